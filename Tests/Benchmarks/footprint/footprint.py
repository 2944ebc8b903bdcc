# SPDX-License-Identifier: Apache-2.0
"""Parts size and service: bytes of the stripped programs; memory and wake-ups of an idle service."""
import contextlib
import os
import shutil
import subprocess
import tempfile
import time

from footprint import contents
from harness.process import Process, ProcessFailed
from harness.report import number

# Millions of bytes; packaging/checks/weight has the same.
BAR_REACH, BAR_MONITOR = 15, 6
BAR_RSS, BAR_PRIVATE = 28, 11.5
SECONDS = 5


def stripped(path):
    """Bytes of a program without its symbols; None where there is none."""
    if not path:
        return None
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, 'program')
        subprocess.run(['strip', '-o', copy, path], check=True)
        return os.path.getsize(copy)


def size(report, programs, _namespaces, _scale):
    bars = [('`reach`', BAR_REACH), ('monitor-only program', BAR_MONITOR)]
    sizes = [stripped(path) for path in programs[:2]]
    report.section('Sizes', 'Stripped, with the Swift runtime inside (packaging/device/flags --smallest --no-property-lists).', ['program', 'bytes'],
                   [[title, number(bytes, 0)] for (title, _), bytes in zip(bars, sizes)])
    for (title, bar), bytes in zip(bars, sizes):
        report.bar('size', f'{title}: size', bytes and bytes / 1e6, bar, 'MB')
    reach, monitor = map(contents.contents, programs[2:])
    if reach and monitor:
        report.section('Where the bytes are', 'By the linker\'s map of `reach`, each module and library by kind; the last column is the '
                       'monitor-only program.', ['part', *contents.COLUMNS, '`reach`', 'monitor'],
                       [[name, *(number(value, 0) for value in values)] for name, values in contents.rows(reach, monitor, sizes)])


def service(report, programs, namespaces, _scale):
    """The service as it is installed: history, outbox, hooks and status.json, nobody asks it anything."""
    title, idle = '`reach serve`', None
    namespaces.restore()
    folder = tempfile.mkdtemp(prefix='reach-bench-')
    try:
        if programs[0]:
            configuration = os.path.join(folder, 'reach.toml')
            with open(configuration, 'w', encoding='utf-8') as file:
                file.write(f'socket = "{folder}/reach.varlink"\nstate-directory = "{folder}/state"\n')
            command = [programs[0], 'serve', '--config', configuration]
            with contextlib.suppress(ProcessFailed), Process(namespaces, command, prints_first=False) as process:
                # The first seconds are the start's.
                process.rest()
                time.sleep(1)
                wakeups, cpu = process.wakeups(), process.cpu()
                time.sleep(SECONDS)
                idle = {'wakeups': process.wakeups() - wakeups, 'cpu': (process.cpu() - cpu) * 1e3, **process.memory()}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    words = ['wakeups', 'cpu', 'rss', 'private', 'peak']
    report.section('The service, idle', f'{SECONDS} s without events, with history and outbox open.',
                   ['program', f'wake-ups in {SECONDS} s', 'CPU ms', 'RSS KiB', 'private KiB', 'peak KiB'],
                   [[title, *(number(idle and idle[word], 2 if word == 'cpu' else 0) for word in words)]])
    report.bar('service', f'{title}: wake-ups in {SECONDS} idle seconds', idle and idle['wakeups'], 0, digits=0)
    report.bar('service', f'{title}: RSS', idle and idle['rss'] / 1024, BAR_RSS, 'MiB')
    report.bar('service', f'{title}: private memory', idle and idle['private'] / 1024, BAR_PRIVATE, 'MiB')
