"""The rows: each monitor's command, what it can be asked, and how its output is read back as a state."""
import json
import re
from dataclasses import dataclass, field
from typing import Callable

REFERENCE = 'C receive loop'
WATCH = '`reach watch --json`'
MONITOR = 'monitor-only program'


@dataclass
class Monitor:
    title: str
    command: list | None          # None: not built, the row stays empty
    state: Callable               # lines -> {'online': bool, 'gateway': str}, what of it the program says; {} when nothing
    prints_first: bool = True     # a first line with the state at the start
    sees_paths: bool = True       # a line for every change of the path, not of the status alone
    ours: bool = False            # the bars are for it
    reruns: int = 99              # a start with a full table is so slow that once is enough
    latencies: set = field(default_factory=lambda: {'route', 'replace', 'link', 'cable'})


def _last(lines, pattern):
    for line in reversed(lines):
        if found := re.match(pattern, line):
            return found
    return None


def loop_state(lines):
    found = _last(lines, r'(ready|default|gone) (\S+)')
    online = bool(found) and found[1] != 'gone' and found[2] != '-'
    return {'online': online, 'gateway': found[2] if online else None} if found else {}


def ip_state(lines):
    found = _last(lines, r'(Deleted )?default via (\S+)')
    return {'online': not found[1], 'gateway': None if found[1] else found[2]} if found else {}


def glib_state(lines):
    found = _last(lines, r'(?:ready )?(up|down)$')
    return {'online': found[1] == 'up'} if found else {}


def watch_state(lines):
    last = json.loads(lines[-1]) if lines else {}
    return {k: last[k] for k in ('online', 'gateway') if k in last}


def status_state(lines):
    found = _last(lines, r'.*\b(unknown|unreachable|wifi|wired)\b')
    return {'online': found[1] in ('wifi', 'wired')} if found else {}


def rows(built, reach, monitor, beside=None):
    """All rows, the reference first. `built` finds a compiled program; `reach` and `monitor` are paths, or None; `beside` finds the
    programs of another build."""
    loop = built('receive_loop')
    others = [
        Monitor(f'{WATCH}, other build', [beside('reach'), 'watch', '--json'], watch_state, ours=True),
        Monitor(f'{MONITOR}, other build', [beside('monitor-only')], status_state, sees_paths=False, ours=True, latencies=set()),
    ] if beside else []
    return [
        Monitor(REFERENCE, [loop], loop_state),
        Monitor('C receive loop with the filter', [loop, '--filter'], loop_state),
        Monitor('`ip monitor`', ['ip', 'monitor', 'link', 'address', 'route'], ip_state, prints_first=False),
        Monitor('GLib GNetworkMonitor', [built('network_monitor')], glib_state, reruns=2, latencies={'route'}),
        Monitor(WATCH, reach and [reach, 'watch', '--json'], watch_state, ours=True),
        Monitor(MONITOR, monitor and [monitor], status_state, sees_paths=False, ours=True, latencies=set()),
        *others,
    ]
