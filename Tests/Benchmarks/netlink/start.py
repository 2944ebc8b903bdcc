"""Part 4: the start in a full kernel: a million routes, ten thousand links."""
import statistics
import subprocess
import time

from harness import placement
from harness.namespaces import Namespaces
from harness.process import ENVIRONMENT, figures, load
from harness.report import number

from .latency import sample
from .monitors import REFERENCE, WATCH

FEW, MANY = 2, 1_000


def first_line(monitor, namespaces, program, times, settle=200, timeout=120):
    """Medians of some starts: {'us', 'cpu_us', 'rss_kib', 'peak_kib', 'private_kib'}; None when no line came."""
    runs = []
    for _ in range(times):
        done = subprocess.run(namespaces.inside(program, str(settle), str(timeout), *monitor.command), capture_output=True,
                              text=True, env=ENVIRONMENT, start_new_session=True, preexec_fn=placement.on(placement.MONITOR))
        runs.append(figures(done.stdout))
        if runs[-1].get('us', -1) < 0:
            return None
    return {k: statistics.median(r[k] for r in runs) for k in runs[0]}


def starts(monitors, namespaces, scale):
    """Title to figures, of every monitor that says something at its start."""
    chosen = [m for m in monitors if m.command and m.prints_first]
    return {m.title: first_line(m, namespaces, scale.program('first_line'), min(m.reruns, scale.starts)) for m in chosen}


def milliseconds(run):
    return run and run['us'] / 1e3


def routes(report, monitors, scale):
    with Namespaces() as namespaces:
        namespaces.default_route('veth0')
        empty = starts(monitors, namespaces, scale)
        load(namespaces, scale.program('storm'), 'fill', str(scale.table), 'veth0', namespaces.gateway('veth0'))
        full = starts(monitors, namespaces, scale)
        began = time.monotonic()
        subprocess.run(namespaces.inside('ip', '-4', 'route', 'show', 'default'), stdout=subprocess.DEVNULL)
        one_shot = (time.monotonic() - began) * 1e3
    header = ['monitor', 'empty: first line ms', 'RSS KiB', 'full: first line ms', 'later by ms', 'RSS KiB', 'RSS more by KiB', 'peak KiB']
    rows, later, more = [], {}, {}
    for m in (m for m in monitors if m.prints_first):
        e, f = empty.get(m.title), full.get(m.title)
        if e and f:
            later[m.title], more[m.title] = milliseconds(f) - milliseconds(e), f['rss_kib'] - e['rss_kib']
        get = lambda run, key: number(run[key] if run else None, 0)
        rows.append([m.title if m.command else f'{m.title} (not built)', number(milliseconds(e), 2), get(e, 'rss_kib'),
                     number(milliseconds(f), 2), number(later.get(m.title), 2), get(f, 'rss_kib'), number(more.get(m.title), 0), get(f, 'peak_kib')])
    rows.append(['`ip -4 route show default`, once', '', '', number(one_shot, 2), '', '', '', ''])
    report.section(f'4. Start with {scale.table:,} routes', 'From exec to the first byte on standard output, in a table with one default '
                   f'route and in a full one; memory 0.2 s later. Medians of {scale.starts} starts.', header, rows)
    for m in (m for m in monitors if m.ours):
        report.bar('4', f'{m.title}, {scale.table:,} routes: first line later by', later.get(m.title), 30, 'ms')
        # Two runs of the same program differ by some pages of shared libraries; a table kept in memory would be 16 MiB or more.
        report.bar('4', f'{m.title}, {scale.table:,} routes: RSS more by', more.get(m.title), 256, 'KiB', 0)


def links(report, monitors, scale):
    with Namespaces() as namespaces:
        namespaces.default_route('veth0')
        batch = ''.join(f'link add l{i} type veth peer name p{i}\n' for i in range(scale.links // 2))
        alone = starts(monitors, namespaces, scale)
        subprocess.run(['ip', '-n', namespaces.name, '-batch', '-'], input=batch, text=True, check=True)
        found = starts(monitors, namespaces, scale)
    rows = []
    for m in (m for m in monitors if m.prints_first):
        run = found.get(m.title)
        rows.append([m.title if m.command else f'{m.title} (not built)', number(milliseconds(run), 1),
                     number(run['cpu_us'] / 1e3 if run else None), number(run['rss_kib'] if run else None, 0)])
    report.section(f'4. Start with {scale.links:,} links', f'{scale.links // 2:,} pairs of virtual Ethernet links that are down, beside the one that '
                   'carries the default route.', ['monitor', 'first line ms', 'CPU ms until 0.2 s later', 'RSS KiB'], rows)
    reference, few = found.get(REFERENCE), alone
    for m in (m for m in monitors if m.ours):
        run, small = found.get(m.title), few.get(m.title)
        # The monitor-only program waits for one path, and needs no table of links.
        report.bar('4', f'{m.title}, {scale.links:,} links: first line, ratio to the C receive loop',
                   run['us'] / reference['us'] if run and reference else None, 1.2, digits=2)
        report.bar('4', f'{m.title}, {scale.links:,} links: memory for a link',
                   (run['private_kib'] - small['private_kib']) * 1024 / scale.links if run and small else None, 400, 'bytes', 0)


def among(report, monitors, scale):
    """One change among few links and among many."""
    watch, medians = next(m for m in monitors if m.title == WATCH), {}
    for count in (FEW, MANY) if watch.command else ():
        with Namespaces() as namespaces, placement.awake():
            batch = ''.join(f'link add l{i} type veth peer name p{i}\n' for i in range((count - FEW) // 2))
            subprocess.run(['ip', '-n', namespaces.name, '-batch', '-'], input=batch, text=True, check=True)
            for _ in range(scale.latency_rounds):
                samples, _ = sample(watch, namespaces, 'route', scale.changes, scale.program('latency'))
                medians.setdefault(count, []).append(statistics.median(samples['added']))
    middle = {count: statistics.median(values) for count, values in medians.items()}
    report.section('4. An event among many links', f'`reach watch --json`, the default route added; medians of {scale.latency_rounds} rounds.',
                   ['links', 'median µs'], [[f'{count:,}', number(middle.get(count))] for count in (FEW, MANY)])
    report.bar('4', f'{WATCH}, route added: among {MANY:,} links, ratio to that among {FEW}',
               middle[MANY] / middle[FEW] if len(middle) == 2 else None, 1.5, digits=2)


def measure(report, monitors, _, scale):
    routes(report, monitors, scale)
    links(report, monitors, scale)
    among(report, monitors, scale)
