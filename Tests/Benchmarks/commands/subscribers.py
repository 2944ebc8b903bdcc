# SPDX-License-Identifier: Apache-2.0
"""Part subscribers: how soon all who follow the service know of a change."""
import os
import shutil
import statistics
import subprocess
import tempfile

from harness import placement
from harness.process import Process, ProcessFailed
from harness.report import number

FEW, MANY = 1, 128
RATIO, MILLISECONDS = 2, 5


def told(namespaces, program, socket, subscribers, changes):
    """Microseconds from before each change until the last subscriber can read its line."""
    done = subprocess.run(namespaces.inside(program, socket, str(subscribers), str(changes), 'veth0', namespaces.gateway('veth0')),
                          capture_output=True, text=True, start_new_session=True, preexec_fn=placement.on(placement.LOAD))
    if done.returncode:
        raise ProcessFailed(done.stderr.strip()[:80] or f'subscribers ended with {done.returncode}')
    return [float(line) for line in done.stdout.split()]


def subscribers(report, programs, namespaces, scale):
    namespaces.restore(None)
    folder, found = tempfile.mkdtemp(prefix='reach-bench-'), {}
    try:
        if programs[0]:
            configuration, socket = (os.path.join(folder, name) for name in ('reach.toml', 'reach.varlink'))
            with open(configuration, 'w', encoding='utf-8') as file:
                file.write(f'socket = "{socket}"\nstate-directory = "{folder}/state"\n')
            with placement.awake(), Process(namespaces, [programs[0], 'serve', '--config', configuration], prints_first=False) as process:
                process.rest()
                for round in range(scale.latency_rounds):
                    for count in (FEW, MANY):
                        found.setdefault(count, []).append(
                            statistics.median(told(namespaces, scale.program('subscribers'), socket, count, scale.changes)))
                process.check()
    except ProcessFailed as failure:
        report.add(f'subscribers: {failure}')
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    few, many = found.get(FEW), found.get(MANY)
    ratio = statistics.median(m / f for f, m in zip(few, many)) if few and many else None
    report.section('Subscribers of the service', 'From before the default route is added or deleted until the last subscriber\'s socket '
                   f'can be read. Rounds: {scale.latency_rounds} of {scale.changes} changes; medians.', ['subscribers', 'last one told, µs'],
                   [[str(count), number(statistics.median(found[count]) if found.get(count) else None)] for count in (FEW, MANY)])
    report.bar('subscribers', f'{MANY} told of a change, ratio to {FEW}', ratio, RATIO, digits=2)
    report.bar('subscribers', f'{MANY} told of a change', statistics.median(many) / 1e3 if many else None, MILLISECONDS, 'ms', digits=2)
