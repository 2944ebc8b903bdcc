"""The Debian packages a benchmark needs: checked, installed when root, named in a clear message otherwise."""
import os
import shutil
import subprocess
import sys

# What must be there (a command, or a pkg-config module), and the package that brings it.
NEEDED = {
    'gcc': 'gcc libc6-dev',
    'pkg-config': 'pkg-config',
    'ip': 'iproute2',
    'unshare': 'util-linux',
}
MONITORS = {'module gio-2.0': 'libglib2.0-dev'}
HTTP = {'nginx': 'nginx', 'openssl': 'openssl', 'curl': 'curl', 'module libcurl': 'libcurl4-openssl-dev'}
OUTBOX = {'nginx': 'nginx', 'strace': 'strace', 'module sqlite3': 'libsqlite3-dev'}
CALLS = {'strace': 'strace'}
INSTRUCTIONS = {'valgrind': 'valgrind', 'strip': 'binutils'}

# Where an ordinary user's shell does not look: nginx is there.
SEARCHED = os.environ.get('PATH', '') + ':/usr/sbin:/sbin'


def present(what):
    kind, _, name = what.rpartition(' ')
    if not kind:
        return shutil.which(name, path=SEARCHED) is not None
    return shutil.which('pkg-config') and subprocess.run(['pkg-config', '--exists', name]).returncode == 0


def ensure(*further):
    """Installs what is missing, or ends the program with the command that would; `further` is what the chosen parts need."""
    os.environ['PATH'] = SEARCHED
    needed = {what: packages for group in (NEEDED, *further) for what, packages in group.items()}
    missing = sorted({p for what, packages in needed.items() if not present(what) for p in packages.split()})
    if not missing:
        return
    command = ['apt-get', 'install', '-y', '--no-install-recommends', *missing]
    if os.geteuid() != 0 or not shutil.which('apt-get'):
        sys.exit(f'Missing packages. As root: {" ".join(command)}')
    print('Installing', *missing, file=sys.stderr)
    # In runlevel 1 no package starts its service: a benchmark needs nginx, the machine does not need a web server.
    quiet = dict(stdout=subprocess.DEVNULL, env={**os.environ, 'DEBIAN_FRONTEND': 'noninteractive', 'RUNLEVEL': '1'})
    if subprocess.run(command, **quiet).returncode and (
            subprocess.run(['apt-get', 'update'], **quiet).returncode or subprocess.run(command, **quiet).returncode):
        sys.exit(f'Could not install them. Try: {" ".join(command)}')
