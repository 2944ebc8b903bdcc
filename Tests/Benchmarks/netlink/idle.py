"""Part 5: what a monitor costs while nothing happens, and how soon its first line comes."""
import contextlib
import time

from harness.process import Process, ProcessFailed
from harness.report import number

from .monitors import WATCH
from .start import first_line, milliseconds

SECONDS = 5


def observe(monitors, namespaces):
    """Title to wake-ups, CPU and memory in 5 s without events, or to a reason; all of them at once, as none does anything."""
    found, running = {m.title: 'not built' for m in monitors}, {}
    with contextlib.ExitStack() as stack:
        for m in (m for m in monitors if m.command):
            try:
                running[m.title] = stack.enter_context(Process(namespaces, m.command, m.prints_first))
            except ProcessFailed as failure:
                found[m.title] = str(failure)
        time.sleep(1.2)  # the last confirmation of the start comes after 1 s
        before = {title: (p.wakeups(), p.cpu()) for title, p in running.items() if p.process.poll() is None}
        time.sleep(SECONDS)
        for title, process in running.items():
            try:
                wakeups, cpu = before[title]
                found[title] = {'wakeups': process.wakeups() - wakeups, 'cpu': (process.cpu() - cpu) * 1e3, **process.memory()}
            except (KeyError, OSError, ProcessFailed):
                found[title] = 'ended while idle'
    return found


def measure(report, monitors, namespaces, scale):
    header = ['monitor', f'wake-ups in {SECONDS} s', 'CPU ms', 'RSS KiB', 'private KiB', 'peak KiB', 'first line ms', 'CPU ms of the start']
    rows = []
    namespaces.restore()
    observed = observe(monitors, namespaces)
    for m in monitors:
        idle = observed[m.title]
        known = isinstance(idle, dict)
        start = first_line(m, namespaces, scale.program('first_line'), 2 * scale.starts + 1) if known and m.prints_first else None
        rows.append([m.title, number(idle['wakeups'], 0), number(idle['cpu'], 2), *(number(idle[k], 0) for k in ('rss', 'private', 'peak')),
                     number(milliseconds(start), 2), number(start['cpu_us'] / 1e3 if start else None, 2)] if known
                    else [f'{m.title} ({idle})'] + [''] * 7)
        if m.ours:
            rss, first = (22, 35) if m.title == WATCH else (8, 10)
            report.bar('5', f'{m.title}: wake-ups in {SECONDS} idle seconds', idle['wakeups'] if known else None, 0, digits=0)
            report.bar('5', f'{m.title}: RSS', idle['rss'] / 1024 if known else None, rss, 'MiB')
            report.bar('5', f'{m.title}: exec to the first line', milliseconds(start), first, 'ms')
    report.section('5. Idle', f'{SECONDS} s without events, after a start with one default route; then {2 * scale.starts + 1} more starts, medians.',
                   header, rows)
