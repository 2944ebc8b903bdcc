# SPDX-License-Identifier: Apache-2.0
"""Part http-instructions: what a request costs in instructions, which no other work on the machine can change."""
import os

from harness import callgrind
from harness.process import ProcessFailed
from harness.report import number

from . import measure
from .clients import REFERENCE
from .server import ORIGINS, SMALL, Server

CONCURRENCY, FEW, MANY = 16, 200, 1_000


def executed(server, client, command):
    return callgrind.executed(lambda wrapper: measure.run(server, client, command, wrapper))


def instructions(report, clients, namespaces, scale):
    clients = [c for c in clients if c.program and os.path.isabs(c.program[0])]
    for client in clients:
        client.program = [callgrind.stripped(client.program[0]), *client.program[1:]]
    lines, counts = [], {}
    with Server(namespaces) as server:
        for client in clients:
            for protocol in ORIGINS:
                url = server.url(protocol, SMALL)
                try:
                    few, many = (executed(server, client, client.get(url, n, CONCURRENCY)) for n in (FEW, MANY))
                    counts[client.title, protocol] = (many - few) / (MANY - FEW)
                except ProcessFailed:
                    counts[client.title, protocol] = None
            line = [client.title]
            for protocol in ORIGINS:
                count, least = counts[client.title, protocol], counts[REFERENCE, protocol]
                line += [number(count, 0), number(count / least if count and least else None, 2)]
            lines.append(line)
    report.section('HTTP: instructions', f'User-space instructions for a GET of 1 KiB, {CONCURRENCY} at once, counted by callgrind: a run of {MANY:,} without a run '
                   f'of {FEW}; ratio to {REFERENCE}.', ['client', *(w for p in ORIGINS for w in (p, 'ratio'))], lines)
