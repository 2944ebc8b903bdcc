# SPDX-License-Identifier: Apache-2.0
"""Part http-1000: a thousand transfers at once on one manager."""
from dataclasses import dataclass

from harness.report import number

from . import measure
from .clients import REFERENCE, Limited, limited
from .server import ORIGINS, SMALL, Server

FEW, MANY = 64, 1_000
RATIO, TO_REFERENCE = 1.5, 1.25
# With HTTP/2, whatever the limit; and MiB over http and https.
CONNECTIONS, MEMORY = 12, {'http': 30, 'https, HTTP/2': 40}
# Without HTTP/1.1 over TLS: a thousand handshakes would be measured, and nothing else.
PROTOCOLS = [p for p in ORIGINS if p != 'https, HTTP/1.1']
HEADER = ['client', 'protocol', f'CPU µs a request, {FEW} at once', f'{MANY:,} at once', f'ratio to {FEW}', f'ratio to {REFERENCE}',
          'requests/s', 'peak MiB', 'connections']


@dataclass
class Outcome:
    few: float         # µs of CPU for a request
    many: float
    cost: measure.Cost

    @property
    def ratio(self):
        return self.many / max(self.few, 1e-9)


def compare(server, clients, protocol, scale):
    """Every client once a round, with few and with many."""
    rows, starts, url, requests = measure.Rows(clients), {}, server.url(protocol, SMALL), scale.http_requests_wide
    for _ in range(scale.http_rounds):
        for client in clients:
            def work():
                if client.title not in starts:
                    starts[client.title] = measure.start_cost(server, client, url)
                start = starts[client.title]
                few = measure.run(server, client, client.get(url, requests, FEW))
                many = measure.run(server, client, client.get(url, requests, MANY))
                return Outcome(few.microseconds(requests, start), many.microseconds(requests, start), many)
            rows.attempt(client, work)
    return rows


def thousand(report, clients, namespaces, scale):
    lines, requests = [], scale.http_requests_wide
    clients = [c for c in clients if c.widest >= MANY]
    reference = clients[0]
    clients += [limited(c) for c in clients if c.ours or c is reference]
    with Server(namespaces) as server:
        for protocol in PROTOCOLS:
            rows = compare(server, clients, protocol, scale)
            for client in clients:
                found = rows.of(client)
                to_few = measure.median(found, lambda o: o.ratio)
                to_reference = measure.ratio(found, rows.of(reference), lambda o: o.many)
                lines.append([client.title, protocol, number(measure.median(found, lambda o: o.few)), number(measure.median(found, lambda o: o.many)),
                              number(to_few, 2), number(to_reference, 2), number(measure.median(found, lambda o: o.cost.rate(requests)), 0),
                              number(measure.median(found, lambda o: o.cost.peak)),
                              number(measure.median(found, lambda o: o.cost.connections), 0)] if found
                             else [f'{client.title} ({rows.reason(client)})', protocol] + [''] * 7)
                # With a connection for each, libcurl itself takes more for a request the more connections it has to look through.
                if client.ours and isinstance(client, Limited):
                    report.bar('http-1000', f'{client.title}, {protocol}: CPU a request at {MANY:,} at once, ratio to {FEW}', to_few, RATIO, digits=2)
                elif client.ours:
                    report.bar('http-1000', f'{client.title}, {protocol}: CPU a request at {MANY:,} at once, ratio to {REFERENCE}', to_reference, TO_REFERENCE, digits=2)
                if client.ours:
                    report.bar('http-1000', f'{client.title}, {protocol}: peak memory', measure.median(found, lambda o: o.cost.peak), MEMORY[protocol], 'MiB')
                    if protocol == 'https, HTTP/2':
                        report.bar('http-1000', f'{client.title}, {protocol}: connections', measure.median(found, lambda o: o.cost.connections), CONNECTIONS, digits=0)
    report.section(f'HTTP: {MANY:,} transfers at once', f'{requests:,} GETs of 1 KiB, {FEW} and {MANY:,} at once, making the connections included. *{Limited.CONNECTIONS} '
                   f'connections*: with a limit, so that transfers wait for them, in libcurl for the reference and in the manager for Reach. '
                   f'Rounds: {scale.http_rounds}, medians.', HEADER, lines, words=2)
