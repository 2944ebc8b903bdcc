# SPDX-License-Identifier: Apache-2.0
"""Requests that are on the disk when a call returns, beside C on SQLite: time, bytes written, syncs."""
import os
import re
import shutil
import statistics
import subprocess
import tempfile

from harness import programs
from harness.process import ENVIRONMENT
from harness.report import number

# Requests and callers, and the bar of the time beside C's.
LOADS = {'one by one': (4_000, 1, 1.3), '64 at once': (64_000, 64, 1.1)}
# What the drill does one by one on the outbox's thread, as the C program does: the bar is this one's, since Swift's default executor
# changes threads twice for each request.
ON_THREAD = 'thread'
BAR_WRITTEN, BAR_SYNCS = 1.5, 1 / 16
SYNCS = ('fsync', 'fdatasync')


def folder():
    """A folder on a disk, and not in memory: a sync there costs nothing."""
    return tempfile.mkdtemp(prefix='reach-bench-', dir=os.environ.get('TMPDIR', '/var/tmp'))


def said(command):
    """What a program says, by word: count and figure."""
    text = subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=900).stdout
    return {word: (int(count), float(value)) for word, count, value in (line.split() for line in text.splitlines() if line.count(' ') == 2)}


def enqueue(program, words, load, before=()):
    """What a program takes to store the requests of a load in a new folder."""
    place = folder()
    try:
        count, callers, _ = LOADS[load]
        return said([*before, program, words, place, str(count), *([] if words == ON_THREAD else [str(callers)])])
    finally:
        shutil.rmtree(place, ignore_errors=True)


def calls(program, words, load):
    """How often a program calls what writes and what waits for the disk; only these calls are slower for being counted."""
    with tempfile.NamedTemporaryFile('r') as counts:
        traced = ['strace', '-f', '-c', '--seccomp-bpf', '-e', 'trace=pwrite64,fsync,fdatasync', '-U', 'calls,name', '-o', counts.name]
        enqueue(program, words, load, traced)
        return {name: int(count) for count, name in re.findall(r'^\s*(\d+)\s+(\w+)\s*$', counts.read(), re.MULTILINE)}


def beside(report, program, scale):
    """Rows and bars of one load after the other."""
    reference, rows, bars = programs.built('outbox_sqlite'), [], []
    for load, (count, _, bar) in LOADS.items():
        ours, theirs, threads, ratios = [], [], [], []
        for _ in range(scale.outbox_rounds):
            theirs.append(enqueue(reference, 'enqueue', load))
            ours.append(enqueue(program, 'callers', load))
            if load == 'one by one':
                threads.append(enqueue(program, ON_THREAD, load))
            ratios.append((threads or ours)[-1]['enqueue'][1] / theirs[-1]['enqueue'][1])
        of_each = lambda rounds, word: statistics.median(r[word][1] / count for r in rounds)
        counted = [calls(reference, 'enqueue', load), calls(program, 'callers', load)]
        syncs = [sum(c.get(name, 0) for name in SYNCS) / count for c in counted]
        writes = [c.get('pwrite64', 0) / count for c in counted]
        for title, rounds, sync, write in (('C on SQLite', theirs, syncs[0], writes[0]), ('Reach', ours, syncs[1], writes[1])):
            rows.append([load, title, number(of_each(rounds, 'enqueue') * 1e3), number(of_each(rounds, 'written'), 0), number(sync, 3), number(write, 2)])
        if threads:
            rows.append([load, 'Reach, on its thread', number(of_each(threads, 'enqueue') * 1e3), number(of_each(threads, 'written'), 0), '', ''])
        bars.append((f'{load}{", on its thread" if threads else ""}: time beside C on SQLite', statistics.median(ratios), bar))
        bars.append((f'{load}: bytes written beside C on SQLite', of_each(ours, 'written') / of_each(theirs, 'written'), BAR_WRITTEN))
        if load == '64 at once':
            bars.append((f'{load}: syncs for each', syncs[1], BAR_SYNCS))
    report.section(
        'Outbox: a request that is on the disk when the call returns',
        'Beside a C program with the same tables and settings of SQLite, which checks nothing. Bytes are those that the kernel had to '
        'write (/proc/PID/io), syncs and writes are counted by strace in a run of their own. *On its thread*: the calling task runs on the '
        f"outbox's `storageExecutor`; else on Swift's default executor. Medians of {scale.outbox_rounds} rounds.",
        ['load', 'program', 'µs each', 'bytes each', 'syncs each', 'writes each'], rows, words=2)
    for what, measured, bar in bars:
        report.bar('outbox', what, measured, bar, digits=2 if bar > 1 else 3)
