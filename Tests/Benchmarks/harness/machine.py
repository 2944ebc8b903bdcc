"""Where a result was measured: one line a fact, for the head of a report."""
import os
import re
import subprocess


def _read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return ''


def _version(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return None
    found = re.search(r'\d+(\.\d+)+', done.stdout + done.stderr)  # nginx says it on standard error
    return found[0] if found and done.returncode == 0 else None


def describe():
    model = re.search(r'model name\s*:\s*(.*)', _read('/proc/cpuinfo'))
    memory = int(re.search(r'MemTotal:\s*(\d+)', _read('/proc/meminfo'))[1]) / 1048576
    system = re.search(r'PRETTY_NAME="(.*)"', _read('/etc/os-release'))
    virtual = ', virtual' if 'hypervisor' in _read('/proc/cpuinfo') else ''
    tools = {
        'gcc': _version('gcc', '--version'),
        'iproute2': _version('ip', '-Version'),
        'libcurl': _version('curl', '--version'),
        'nginx': _version('nginx', '-v'),
        'GLib': _version('pkg-config', '--modversion', 'gio-2.0'),
        'Swift': _version('swift', '--version'),
    }
    return [
        f'{model[1] if model else os.uname().machine}, {os.cpu_count()} cores{virtual}, {memory:.0f} GiB',
        f'Linux {os.uname().release.split("-")[0]}, {system[1] if system else "unknown system"}',
        ', '.join(f'{name} {version}' for name, version in tools.items() if version),
        'load when it began: ' + ' '.join(_read('/proc/loadavg').split()[:3]),
    ]
