"""A program under test: started, accounted for by the kernel's own figures, ended; never anything that it did not start."""
import atexit
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from . import placement

ENVIRONMENT = {**os.environ, 'LC_ALL': 'C', 'GIO_USE_NETWORK_MONITOR': 'netlink'}


class ProcessFailed(Exception):
    """The program under test ended, or never became ready: its row says so and the others go on."""


class Scratch:
    """A directory in memory for the outputs of this run; what killed runs have left is removed with it."""

    root = '/dev/shm' if os.access('/dev/shm', os.W_OK) else tempfile.gettempdir()
    path = os.path.join(root, f'reach-bench-{os.getpid()}')
    files = 0

    @classmethod
    def file(cls):
        """The path of a new file."""
        if not cls.files:
            os.makedirs(cls.path)
            atexit.register(cls.remove)
        cls.files += 1
        return os.path.join(cls.path, str(cls.files))

    @classmethod
    def remove(cls):
        for name in os.listdir(cls.root):
            owner = re.fullmatch(r'reach-bench-(\d+)', name)
            if owner and (int(owner[1]) == os.getpid() or not os.path.exists(f'/proc/{owner[1]}')):
                shutil.rmtree(os.path.join(cls.root, name), ignore_errors=True)


class Process:
    """A monitor inside a namespace, as a context; its output goes to a file on tmpfs, or to a pipe when one is given."""

    def __init__(self, namespaces, command, prints_first=True, output=None):
        self.namespaces, self.command, self.prints_first, self.pipe = namespaces, command, prints_first, output
        self.path, self.errors = Scratch.file(), Scratch.file()

    def __enter__(self):
        with open(self.path, 'wb') as file, open(self.errors, 'wb') as errors:
            self.process = subprocess.Popen(self.namespaces.inside(*self.command), stdin=subprocess.DEVNULL,
                                            stdout=file if self.pipe is None else self.pipe, stderr=errors, env=ENVIRONMENT,
                                            start_new_session=True, preexec_fn=placement.on(placement.MONITOR))
        self.pid = self.process.pid
        try:
            self._await_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for path in (self.path, self.errors):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    def _await_ready(self):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            self.check()
            if self.sockets() and (self.pipe is not None or not self.prints_first or os.path.getsize(self.path)):
                time.sleep(.3)
                return
            time.sleep(.01)
        raise ProcessFailed('not ready in 30 s')

    def check(self):
        code = self.process.poll()
        if code is not None:
            errors = open(self.errors, errors='replace').read().strip().splitlines()
            raise ProcessFailed(f'ended with {code}' + (f': {errors[-1][:80]}' if errors else ''))

    def cpu(self):
        """Seconds of CPU of all its threads, ended ones too: the clock that clock_getcpuclockid() names."""
        self.check()
        return time.clock_gettime((~self.pid << 3) | 2)

    def wakeups(self):
        """How often its threads have gone to sleep and been woken."""
        total = 0
        for task in os.listdir(f'/proc/{self.pid}/task'):
            try:
                status = open(f'/proc/{self.pid}/task/{task}/status').read()
            except OSError:
                continue
            total += int(re.search(r'\nvoluntary_ctxt_switches:\s+(\d+)', status)[1])
        return total

    def sockets(self):
        """Its route netlink sockets that have joined a group: inode to messages dropped."""
        try:
            inodes = set()
            for fd in os.listdir(f'/proc/{self.pid}/fd'):
                found = re.fullmatch(r'socket:\[(\d+)\]', os.readlink(f'/proc/{self.pid}/fd/{fd}'))
                inodes |= {found[1]} if found else set()
            lines = [line.split() for line in open(f'/proc/{self.pid}/net/netlink')][1:]
        except OSError:
            return {}
        return {f[9]: int(f[8]) for f in lines if f[1] == '0' and int(f[3], 16) and f[9] in inodes}

    def lost(self):
        """Messages that the kernel had to drop for it."""
        return sum(self.sockets().values())

    def memory(self):
        """KiB: resident, private, and the peak."""
        rollup = open(f'/proc/{self.pid}/smaps_rollup').read()
        peak = int(re.search(r'VmHWM:\s+(\d+)', open(f'/proc/{self.pid}/status').read())[1])
        return {'rss': int(re.search(r'Rss:\s+(\d+)', rollup)[1]),
                'private': sum(int(x) for x in re.findall(r'Private_\w+:\s+(\d+)', rollup)), 'peak': peak}

    def rest(self, seconds=90):
        """Returns when it has used no CPU for 0.3 s."""
        last, still, end = self.cpu(), 0, time.monotonic() + seconds
        while still < 3 and time.monotonic() < end:
            time.sleep(.1)
            now = self.cpu()
            still, last = (still + 1 if now - last < .0005 else 0), now

    def lines(self):
        count = 0
        with open(self.path, 'rb') as f:
            while block := f.read(1 << 20):
                count += block.count(b'\n')
        return count

    def tail(self):
        """The last whole lines of its output."""
        with open(self.path, 'rb') as f:
            f.seek(max(0, os.path.getsize(self.path) - 65536))
            text = f.read().decode(errors='replace')
        return text[:text.rfind('\n') + 1].splitlines()


def load(namespaces, *command):
    """Runs a load generator inside the namespace and returns the figures it prints."""
    done = subprocess.run(namespaces.inside(*command), capture_output=True, text=True, start_new_session=True,
                          preexec_fn=placement.on(placement.LOAD))
    if done.returncode:
        raise RuntimeError(f'{" ".join(command)}: {done.stderr.strip()}')
    return figures(done.stdout)


def figures(text):
    return {k: float(v) for k, v in re.findall(r'(\w+)=(-?[\d.]+)', text)}
