# SPDX-License-Identifier: Apache-2.0
"""Part calls: the system calls of one event, and the bytes that the kernel hands over for it."""
import os
import re
import subprocess
import time

from harness.process import Process, ProcessFailed, Scratch
from harness.report import number

from .monitors import REFERENCE, WATCH

EVENTS = 20
PAUSE = .7  # more than the half second after which a loss becomes a status


def events(namespaces):
    """The kinds of event: what makes it happen, and what undoes it."""
    cable = ['-n', namespaces.far, 'link', 'set', 'far-veth0']
    route = ['-n', namespaces.name, 'route']
    default = ['default', 'via', namespaces.gateway('veth0'), 'dev', 'veth0']
    return {'cable unplugged': ([*cable, 'down'], [*cable, 'up']), 'route added': ([*route, 'add', *default], [*route, 'del', *default])}


def whole(path):
    """The lines of calls that have returned."""
    with open(path, errors='replace') as file:
        return file.read().split('\n')[:-1]


def traced(monitor, namespaces, make, undo):
    """Of each event: system calls, those that ask or hear the kernel's network, and bytes read from it."""
    trace = Scratch.file()
    # The tracer is a grandchild: the process that was started is the monitor itself.
    command = ['strace', '-D', '-f', '-qq', '-o', trace, '--', *monitor.command]
    totals = [0, 0, 0]
    with Process(namespaces, command, monitor.prints_first) as process:
        for _ in range(EVENTS):
            time.sleep(PAUSE)
            process.rest()
            begun = len(whole(trace))
            namespaces.ip(*make)
            time.sleep(PAUSE)
            process.rest()
            calls = [line for line in whole(trace)[begun:] if re.search(r' = -?\d+', line)]
            network = [line for line in calls if re.search(r'\b(send|recv)(to|from|msg|mmsg)?(\(| resumed)', line)]
            received = [int(n) for line in network if re.search(r'\brecv', line) for n in re.findall(r' = (\d+)', line)]
            for place, value in enumerate((len(calls), len(network), sum(received))):
                totals[place] += value
            namespaces.ip(*undo)
    os.unlink(trace)
    return [total / EVENTS for total in totals]


def calls(report, monitors, namespaces, _):
    rows = []
    for what, (make, undo) in events(namespaces).items():
        for m in (m for m in monitors if m.title in (REFERENCE, WATCH) and m.command):
            namespaces.restore('veth0' if what.startswith('cable') else None)
            try:
                figures = traced(m, namespaces, make, undo)
                rows.append([what, m.title, *(number(figure) for figure in figures)])
            except (ProcessFailed, subprocess.SubprocessError, RuntimeError) as failure:
                rows.append([what, f'{m.title} ({failure})', '', '', ''])
    namespaces.restore()
    report.section('System calls of an event', f'Counted by strace, until half a second after the event; means of {EVENTS} events. *Network*: calls '
                   'that send to a socket or receive from one; *bytes*: what was received.',
                   ['event', 'monitor', 'system calls', 'network', 'bytes'], rows, words=2)
