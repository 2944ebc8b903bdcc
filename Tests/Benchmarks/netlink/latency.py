"""Part 3: from a change in the kernel to the line about it."""
import os
import statistics
import subprocess

from harness import placement
from harness.process import Process, ProcessFailed
from harness.report import number

from .monitors import REFERENCE, WATCH, Monitor, watch_state

# The kind of change: what is timed, the default route it starts with.
KINDS = {
    'route': (['added', 'deleted'], None, 'the default route'),
    'replace': (['moved'], 'veth0', 'the default route, from one gateway to the other'),
    'link': (['down'], 'veth0', 'the link of the default route, by its administrator'),
    'cable': (['unplugged', 'plugged'], 'veth0', 'the link of the default route, by its far end'),
}
MEDIAN, TAIL = 1.4, 1.6
LOOK_UPS = 'C, events and look-ups'  # what no monitor can be below that asks the kernel for the truth
QUIET = 3  # ms of silence between changes: more than the 1 ms after which an event counts as the first of its kind


def sample(monitor, namespaces, kind, count, program):
    """What was timed to its microseconds, and the number of changes without a line."""
    namespaces.restore(KINDS[kind][1])
    a, b = namespaces.gateway('veth0'), namespaces.gateway('veth1')
    arguments = {'route': ['veth0', a], 'replace': ['veth0', a, 'veth1', b], 'link': ['veth0', a],
                 'cable': [namespaces.far_index('veth0'), namespaces.far]}[kind]
    reader, writer = os.pipe()
    try:
        with Process(namespaces, monitor.command, output=writer) as process:
            os.close(writer)
            writer = None
            done = subprocess.run(namespaces.inside(program, kind, str(count), str(QUIET), *arguments), stdin=reader,
                                  capture_output=True, text=True, start_new_session=True,
                                  preexec_fn=placement.on(placement.LOAD))
            process.check()
    finally:
        os.close(reader)
        if writer is not None:
            os.close(writer)
    if done.returncode:
        raise RuntimeError(f'latency {kind}: {done.stderr.strip()}')
    pairs = [line.split() for line in done.stdout.splitlines()]
    samples = {what: [float(value) for key, value in pairs if key == what] for what in KINDS[kind][0]}
    return samples, sum(key == 'miss' for key, _ in pairs)


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def measure(report, monitors, namespaces, scale):
    with placement.awake():
        compare_all(report, monitors, namespaces, scale)


def compare_all(report, monitors, namespaces, scale):
    header = ['monitor', 'change', 'median µs', 'p99 µs', 'ratio of medians', 'ratio of p99', 'changes', 'without a line']
    rows, ratios = [], {}
    monitors = [*monitors, Monitor(LOOK_UPS, [scale.program('look_ups')], watch_state)]
    for kind, (timed, _, _) in KINDS.items():
        runs = {}
        chosen = [m for m in monitors if kind in m.latencies and m.command]
        for _ in range(scale.latency_rounds):
            for m in chosen:
                if isinstance(runs.setdefault(m.title, []), list):
                    try:
                        runs[m.title].append(sample(m, namespaces, kind, scale.changes, scale.program('latency')))
                    except ProcessFailed as failure:
                        runs[m.title] = str(failure)
        reference = runs[REFERENCE]
        for what in timed:
            for m in chosen:
                found = runs[m.title]
                values = [v for run in found for v in run[0][what]] if isinstance(found, list) else []
                if not values:
                    rows.append([m.title if isinstance(found, list) else f'{m.title} ({found})', f'{kind}: {what}', *[''] * 4, '0',
                                 str(sum(run[1] for run in found)) if isinstance(found, list) else ''])
                    continue
                compare = lambda part: statistics.median(percentile(x[0][what], part) / percentile(y[0][what], part)
                                                         for x, y in zip(found, reference) if x[0][what] and y[0][what])
                enough = len(values) >= 100  # the 99th percentile of fewer is one unlucky change
                rows.append([m.title, f'{kind}: {what}', number(percentile(values, .5)), number(percentile(values, .99) if enough else None),
                             number(compare(.5), 2), number(compare(.99) if enough else None, 2), str(len(values)), str(sum(run[1] for run in found))])
                if m.title == WATCH:
                    ratios[kind, what] = compare(.5), compare(.99) if enough else None
    report.section('3. From a change to its line', 'From before the change is sent to the kernel until the first byte of the line '
                   f'can be read from a pipe; {QUIET} ms of silence before the next change. Rounds: {scale.latency_rounds}; ratios to the C receive '
                   'loop of the same round, median of the rounds. ' + '; '.join(f'*{k}*: {v[2]}' for k, v in KINDS.items()) + '.',
                   header, rows, words=2)
    for kind, (timed, _, _) in KINDS.items():
        for what in timed:
            middle, tail = ratios.get((kind, what), (None, None))
            report.bar('3', f'{WATCH}, {kind} {what}: median, ratio to the C receive loop', middle, MEDIAN, digits=2)
            # A quick run has too few changes.
            if scale.changes * scale.latency_rounds >= 1_000:
                report.bar('3', f'{WATCH}, {kind} {what}: p99, ratio to the C receive loop', tail, TAIL, digits=2)
