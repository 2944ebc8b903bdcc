# SPDX-License-Identifier: Apache-2.0
"""A network namespace with a cable in it, Reach's service, and GLib programs whose lines are waited for.

`enter()` starts the calling program anew in namespaces of its own, which end with it: no name, no link and no process is left.
"""
import json
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, '../../..'))
BUILD = os.environ.get('GIOREACH_BUILD') or os.path.join(HERE, '../build')
LIMIT = float(os.environ.get('GIOREACH_LIMIT', 30))


def enter():
    """Goes into namespaces of its own for users, networks, mounts and processes."""
    if os.environ.get('GIOREACH_INSIDE'):
        return
    command = ['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
    if os.getuid():
        command += ['--user', '--map-root-user']
    environment = {k: v for k, v in os.environ.items() if not k.startswith(('REACH_', 'GIO_')) and not k.lower().endswith('_proxy')}
    environment |= {'GIOREACH_INSIDE': '1', 'LC_ALL': 'C.UTF-8', 'REACH': reach()}
    os.execvpe('unshare', [*command, sys.executable, *sys.argv], environment)


def reach():
    """The program `reach`: $REACH, the one of this build, or the installed one."""
    for found in (os.environ.get('REACH'), os.path.join(ROOT, '.build/debug/reach'), shutil.which('reach')):
        if found and os.access(found, os.X_OK):
            return os.path.abspath(found)
    sys.exit('gio: there is no program reach; build it (swift build), or set REACH=/path/to/reach')


def ip(*arguments):
    subprocess.run(['ip', *arguments], check=True)


def storm(count=60_000):
    """Routes faster than a stopped program reads them: the kernel drops messages, and says so once (ENOBUFS, netlink(7))."""
    batch = ''.join(f'route add 11.{i // 65536}.{i // 256 % 256}.{i % 256}/32 dev v0\n' for i in range(count))
    subprocess.run(['ip', '-batch', '-'], input=batch, text=True, check=True)


class Network:
    """v0, with 10.0.0.2/24 and the default route by 10.0.0.1, and its far end p0 in a namespace of its own."""

    def __init__(self):
        ip('link', 'set', 'lo', 'up')
        # The far namespace lives as long as this process; it ends with the namespace for processes.
        self.holder = subprocess.Popen(['unshare', '--net', 'sh', '-c', 'echo ready; exec sleep infinity'], stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        self.far('ip', 'link', 'set', 'lo', 'up')
        self.plug()

    def close(self):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()

    def far(self, *command):
        subprocess.run(self.far_command(*command), check=True)

    def far_command(self, *command):
        return ['nsenter', '--net', '--target', str(self.holder.pid), *command]

    def plug(self):
        ip('link', 'add', 'v0', 'type', 'veth', 'peer', 'name', 'p0', 'netns', str(self.holder.pid))
        # IPv4 alone, as the probes of GLib's monitor were written down.
        with open('/proc/sys/net/ipv6/conf/v0/disable_ipv6', 'w') as file:
            file.write('1')
        self.far('ip', 'addr', 'add', '10.0.0.1/24', 'dev', 'p0')
        self.far('ip', 'link', 'set', 'p0', 'up')
        ip('addr', 'add', '10.0.0.2/24', 'dev', 'v0')
        ip('link', 'set', 'v0', 'up')
        ip('route', 'add', 'default', 'via', '10.0.0.1')
        # The kernel takes a moment for it (linkwatch), in which a service would find no carrier.
        while ' state UP ' not in subprocess.run(['ip', '-o', 'link', 'show', 'v0'], capture_output=True, text=True).stdout:
            time.sleep(0.01)

    def reset(self):
        """As at the start, whatever a test has changed."""
        for link in ('v0', 'w0'):
            subprocess.run(['ip', 'link', 'del', link], stderr=subprocess.DEVNULL)
        for what in (['table', '99'], ['table', 'main'], ['type', 'prohibit']):
            subprocess.run(['ip', 'route', 'flush', *what], stderr=subprocess.DEVNULL)
        subprocess.run(['ip', 'nexthop', 'flush'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open('/proc/sys/net/ipv4/nexthop_compat_mode', 'w') as file:
            file.write('1')
        self.plug()

    def pull_cable(self):
        self.far('ip', 'link', 'set', 'p0', 'down')

    def put_cable_back(self):
        self.far('ip', 'link', 'set', 'p0', 'up')

    def allow_ipv6(self):
        """An address of the link alone, at once: nothing else answers for it."""
        with open('/proc/sys/net/ipv6/conf/v0/disable_ipv6', 'w') as file:
            file.write('0')
        ip('-6', 'addr', 'add', 'fe80::2/64', 'dev', 'v0', 'nodad')

    def add_second_link(self):
        """w0, with an address of the link alone, until the network is reset."""
        ip('link', 'add', 'w0', 'type', 'veth', 'peer', 'name', 'q0', 'netns', str(self.holder.pid))
        self.far('ip', 'link', 'set', 'q0', 'up')
        ip('link', 'set', 'w0', 'addrgenmode', 'none', 'up')
        ip('-6', 'addr', 'add', 'fe80::2/64', 'dev', 'w0', 'nodad')

    def sent_packets(self):
        with open('/proc/net/dev') as file:
            return next(int(line.split()[10]) for line in file if line.strip().startswith('v0:'))


class Lines:
    """A program whose lines are read as they come; `wait` returns the line that fits, and fails when none comes."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1, **options)
        self.lines, self.errors, self._queue = [], [], queue.Queue()
        self._threads = [threading.Thread(target=self._read, args=(self.process.stdout, self._queue.put), daemon=True),
                         threading.Thread(target=self._read, args=(self.process.stderr, self.errors.append), daemon=True)]
        for thread in self._threads:
            thread.start()

    def _read(self, stream, keep):
        for line in stream:
            keep(line.rstrip('\n'))
        if stream is self.process.stdout:
            keep(None)

    def say(self, line):
        self.process.stdin.write(line + '\n')

    def wait(self, pattern, limit=None):
        """The next line that the expression fits from its beginning; earlier lines are kept in `lines`."""
        end = time.monotonic() + (limit or LIMIT)
        while True:
            try:
                line = self._queue.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError(f'no line like {pattern!r} after {self.lines[-8:]}; errors: {self.errors}')
            self.lines.append(line)
            if re.match(pattern, line):
                return line

    def drain(self):
        """Takes the lines that have come."""
        while not self._queue.empty():
            if (line := self._queue.get()) is not None:
                self.lines.append(line)

    def ask(self, command, pattern):
        self.say(command)
        return self.wait(pattern)

    def close(self):
        """Its end of input ends it; returns its exit code, after all its lines were read."""
        if self.process.stdin and not self.process.stdin.closed:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        try:
            code = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f'{self.process.args} does not end; its last lines: {self.lines[-8:]}')
        for thread in self._threads:
            thread.join()
        self.drain()
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()
        return code


class Service:
    """`reach serve` with a socket and files of its own."""

    def __init__(self, folder, *options):
        self.socket = os.path.join(folder, 'reach.varlink')
        self.command = [reach(), 'serve', '--socket', self.socket, '--state-directory', os.path.join(folder, 'state'), *options]
        self.process = None

    def start(self):
        self.log = tempfile.TemporaryFile('w+')
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)
        end = time.monotonic() + LIMIT
        # It makes its socket, and answers on it behind its first status.
        while self.call('GetStatus').get('status') in (None, 'unknown'):
            if self.process.poll() is not None or time.monotonic() > end:
                self.log.seek(0)
                raise AssertionError(f'the service does not start: {self.log.read()}')
            time.sleep(0.02)
        return self

    def call(self, method, **parameters):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(LIMIT)
            try:
                connection.connect(self.socket)
                connection.sendall(json.dumps({'method': f'io.reach.Reachability.{method}', 'parameters': parameters}).encode() + b'\0')
                answer = b''
                while not answer.endswith(b'\0'):
                    if not (part := connection.recv(65536)):
                        return {}
                    answer += part
            except OSError:
                return {}
            return json.loads(answer[:-1]).get('parameters', {})

    def catch_up(self):
        """Waits until the service's status is that of the link that there is now."""
        index = socket.if_nametoindex('v0')
        while True:
            status = self.call('GetStatus')
            if status.get('status') == 'wired' and any(link['index'] == index and link['online'] for link in status['links']):
                return
            time.sleep(0.02)

    def wait_for_client(self):
        """Waits until a client has been answered that stays: one that watches."""
        def connections():
            with open('/proc/net/unix') as file:
                # The service's end of a connection has the path of its socket, and is in the state "connected" (3).
                return sum(line.split()[5] == '03' and line.rstrip().endswith(self.socket) for line in file)
        while not connections():
            time.sleep(0.02)
        # Answered in turn, so the watching one has been by now.
        self.call('GetStatus')

    def stop(self, how=signal.SIGTERM):
        if self.process:
            self.process.send_signal(how)
            self.process.wait()
            self.process = None
            self.log.close()

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)
        # Its threads stop one by one.
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)


def environment(service=None, module=True, **more):
    """What a program of the device has: the module where GIO finds it, and the service's socket."""
    result = dict(os.environ, GIO_MODULE_DIR=module_folder(module), **more)
    result['REACH_SOCKET'] = service.socket if service else '/nonexistent/reach.varlink'
    return result


def module_folder(module):
    folder = os.path.join(BUILD, 'modules' if module is True else module or 'no-modules')
    os.makedirs(folder, exist_ok=True)
    return folder


def glib_version():
    """Of the library that the programs are run with, which LD_LIBRARY_PATH may name."""
    program = Program(module=False)
    program.close()
    return program.lines[0].removeprefix('glib ')


class Program(Lines):
    """The GLib program of this folder."""

    def __init__(self, service=None, module=True, arguments=(), before=(), **more):
        super().__init__([*before, os.path.join(BUILD, 'network-monitor'), *arguments], env=environment(service, module, **more))
        try:
            self.type = self.wait('type ').split()[1]
            self.state = self.wait('state ')
        except AssertionError:
            self.process.kill()
            raise

    def has_netlink(self):
        """Whether it has a socket of netlink, as GLib's own monitor has, and Reach's module has not."""
        with open('/proc/net/netlink') as file:
            inodes = {f'socket:[{line.split()[-1]}]' for line in file.readlines()[1:]}
        folder = f'/proc/{self.process.pid}/fd'
        try:
            return any(os.readlink(os.path.join(folder, name)) in inodes for name in os.listdir(folder))
        except FileNotFoundError:
            return False
