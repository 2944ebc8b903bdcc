# SPDX-License-Identifier: Apache-2.0
"""Part http-big: a gigabyte to a file and from a file."""
import contextlib
import os
from dataclasses import dataclass

from harness.process import ProcessFailed, Scratch
from harness.report import number

from . import measure
from .clients import REFERENCE
from .server import LONG, ORIGINS, SHORT, Server

RATIO, GROWTH = 1.15, 4
# To be reached by TLS: what AsyncHTTPClient needs.
BY_TLS = {('download', 'https, HTTP/1.1'): .9, ('upload', 'https, HTTP/1.1'): .9, ('upload', 'https, HTTP/2'): .55}
HEADER = ['client', 'protocol', 'MiB/s', 'CPU s', 'ratio', 'peak MiB', 'peak MiB with 1 MiB', 'more by MiB']


@dataclass
class Outcome:
    long: measure.Cost
    short: measure.Cost


def download(server, client, protocol, size):
    return moved(server, client, size, lambda path: client.download(server.url(protocol, size), path), None)


def upload(server, client, protocol, size):
    return moved(server, client, size, lambda _: client.upload(server.upload_url(protocol), server.document(size)), server.uploaded())


def moved(server, client, size, command, destination):
    """One transfer, whose bytes have to be where they belong."""
    path = destination or Scratch.file()
    try:
        cost = measure.run(server, client, command(path))
        arrived = os.path.getsize(path) if os.path.exists(path) else 0
        if arrived != size:
            raise ProcessFailed(f'{arrived:,} of {size:,} bytes arrived')
        return cost
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def big(report, clients, namespaces, scale):
    clients = [c for c in clients if c.has_files]
    reference = clients[0]
    judged = [c for c in clients if c.ours or c is reference]
    with Server(namespaces) as server:
        for verb, move, words in (('download', download, 'to a file'), ('upload', upload, 'from a file')):
            lines = []
            # The first to write a gigabyte to a virtual machine's memory waits for its host to find it: not the first client.
            move(server, reference, 'http', LONG)
            for protocol in ORIGINS:
                rows = measure.Rows(clients)
                for done in range(scale.http_big_rounds):
                    for client in clients if done < scale.http_big_peer_rounds else judged:
                        rows.attempt(client, lambda: Outcome(move(server, client, protocol, LONG), move(server, client, protocol, SHORT)))
                for client in clients:
                    found = rows.of(client)
                    compared = measure.ratio(found, rows.of(reference), lambda o: o.long.cpu)
                    growth = measure.median(found, lambda o: o.long.peak - o.short.peak)
                    lines.append([client.title, protocol, number(measure.median(found, lambda o: LONG / SHORT / o.long.seconds), 0),
                                  number(measure.median(found, lambda o: o.long.cpu), 2), number(compared, 2),
                                  number(measure.median(found, lambda o: o.long.peak)),
                                  number(measure.median(found, lambda o: o.short.peak)), number(growth)] if found
                                 else [f'{client.title} ({rows.reason(client)})', protocol] + [''] * 6)
                    if client.ours:
                        report.bar('http-big', f'{client.title}, {verb}, {protocol}: CPU, ratio to {REFERENCE}', compared,
                                   BY_TLS.get((verb, protocol), RATIO), digits=2)
                        report.bar('http-big', f'{client.title}, {verb}, {protocol}: peak memory more than with 1 MiB', growth, GROWTH, 'MiB')
            report.section(f'HTTP: 1 GiB {words}', f'One {verb} of 1 GiB, files in memory; the CPU is all of the program\'s; ratio to {REFERENCE} '
                           f'in the same round. Rounds: {scale.http_big_rounds}, of the peers {scale.http_big_peer_rounds}; medians.', HEADER, lines, words=2)
