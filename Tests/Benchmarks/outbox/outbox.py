# SPDX-License-Identifier: Apache-2.0
"""Part outbox: a hundred thousand requests are taken, one by one and in batches, opened again and listed; and what the other files of this
folder measure."""
import os
import shutil
import statistics
import time

from harness.report import number
from outbox.beside import beside, folder, said
from outbox.full import full

ENTRIES = 100_000
# 500 a second one by one, 20,000 a second in batches, 200 ms to open, and 4 µs to list an entry.
BAR_SINGLE, BAR_BATCH, BAR_START, BAR_LIST, BAR_MEMORY = 2, 50, 200, 400, 16
# What a commit of one request writes to the log, and how often the disk is asked for the same.
COMMIT, SYNCS = 24 << 10, 500


def disk(folder):
    """Milliseconds that the disk takes to have so many bytes more of a file, without SQLite."""
    path = os.path.join(folder, 'reference')
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        # Written over and over, as a log of changes is.
        os.write(descriptor, bytes(64 * COMMIT))
        os.fsync(descriptor)
        began = time.monotonic()
        for n in range(SYNCS):
            os.pwrite(descriptor, bytes(COMMIT), n % 64 * COMMIT)
            os.fdatasync(descriptor)
        return (time.monotonic() - began) / SYNCS * 1e3
    finally:
        os.close(descriptor)
        os.unlink(path)


def run(program):
    """What the drill says it took, by word: count and milliseconds, or KiB."""
    place = folder()
    try:
        return {'disk': (1, disk(place)), **said([program, 'measure', os.path.join(place, 'outbox'), str(ENTRIES)])}
    finally:
        shutil.rmtree(place, ignore_errors=True)


def outbox(report, program, lab, scale):
    if not program:
        return report.bar('outbox', 'one by one', None, BAR_SINGLE, 'ms')
    hundred_thousand(report, program, scale)
    beside(report, program, scale)
    full(report, program, lab)


def hundred_thousand(report, program, scale):
    rounds = [run(program) for _ in range(scale.outbox_rounds)]
    each = lambda word, factor=1: statistics.median(r[word][1] / r[word][0] * factor for r in rounds)
    whole = lambda word: statistics.median(r[word][1] for r in rounds)
    single, batch = each('single'), each('batches', 1e3)
    memory = statistics.median((r['memory-full'][1] - r['memory-single'][1]) / 1024 for r in rounds)
    report.section(
        f'Outbox: {ENTRIES:,} requests',
        f'Small requests in ten lanes, on the disk of {os.environ.get("TMPDIR", "/var/tmp")}; medians of {scale.outbox_rounds} rounds.',
        ['what', 'figure', 'unit'],
        [['one by one, each on the disk', number(1e3 / single, 0), 'a second'],
         ['the disk alone: 24 KiB, synced', number(1e3 / whole('disk'), 0), 'a second'],
         ['in batches of 1,000', number(1e6 / batch, 0), 'a second'],
         ['opened, with the check of the whole file', number(whole('open')), 'ms'],
         ['the first 1,000 listed', number(whole('page')), 'ms'],
         ['all listed, in pages of 1,000', number(whole('list')), 'ms'],
         ['delivery begun', number(whole('delivery')), 'ms'],
         ['memory with 2,000 in it', number(whole('memory-single') / 1024), 'MiB'],
         ['memory with all in it, after the list', number(whole('memory-full') / 1024), 'MiB']])
    report.bar('outbox', 'one by one, each on the disk', single, BAR_SINGLE, 'ms', digits=2)
    report.bar('outbox', 'in batches of 1,000', batch, BAR_BATCH, 'µs each')
    report.bar('outbox', 'opened, with the check of the whole file', whole('open'), BAR_START, 'ms')
    report.bar('outbox', 'all listed', whole('list'), BAR_LIST, 'ms')
    report.bar('outbox', 'memory more with all in it', memory, BAR_MEMORY, 'MiB')
