# SPDX-License-Identifier: Apache-2.0
"""Part http-instructions: what a request costs in instructions, which no other work on the machine can change."""
import contextlib
import os
import re
import subprocess

from harness.process import ProcessFailed, Scratch
from harness.report import number

from . import measure
from .clients import REFERENCE
from .server import ORIGINS, SMALL, Server

CONCURRENCY, FEW, MANY = 16, 200, 1_000


def executed(server, client, command):
    """User-space instructions of a run, counted by callgrind."""
    profile = Scratch.file()
    try:
        measure.run(server, client, command, ['valgrind', '--tool=callgrind', f'--callgrind-out-file={profile}'])
        found = re.search(r'^(?:totals|summary): (\d+)', open(profile).read(), re.MULTILINE) if os.path.exists(profile) else None
        if not found:
            raise ProcessFailed('valgrind could not run it')
        return int(found[1])
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(profile)


def stripped(client):
    """The client with its programs stripped: valgrind reads debug information, and fails on Swift's."""
    program = client.program[0]
    copy = Scratch.file()
    subprocess.run(['strip', '-o', copy, program], check=True)
    return [copy, *client.program[1:]]


def instructions(report, clients, namespaces, scale):
    clients = [c for c in clients if c.program and os.path.isabs(c.program[0])]
    for client in clients:
        client.program = stripped(client)
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
