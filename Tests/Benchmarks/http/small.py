# SPDX-License-Identifier: Apache-2.0
"""Part http-small: many requests for 1 KiB over connections that are kept."""
from dataclasses import dataclass

from harness.report import number

from . import measure
from .clients import REFERENCE
from .server import ORIGINS, SMALL, Server

CONCURRENCIES = [1, 16, 64]
# CPU a request, by the number at once: on the manager's own thread, and awaited or called back on Swift's executor.
ON_LOOP, ELSEWHERE = {1: 1.4, 16: 1.4, 64: 1.4}, {1: 1.5, 16: 1.35, 64: 1.35}
MEMORY = 22
HEADER = ['client', 'at once', 'requests/s', 'CPU µs a request', 'ratio', 'peak MiB', 'connections', 'switches a request', 'forced']


@dataclass
class Outcome:
    cost: measure.Cost
    requests: int
    start: measure.Cost

    @property
    def cpu(self):
        return self.cost.microseconds(self.requests, self.start)


def compare(server, clients, protocol, concurrency, scale, starts):
    """The reference and ours once a round, side by side: what the machine has to do beside them changes within seconds. The
    others, far from every bar, come first, and not in the later rounds."""
    rows, url, reference = measure.Rows(clients), server.url(protocol, SMALL), clients[0]
    ours = [reference, *(c for c in clients if c.ours)]
    for number in range(rounds(scale)):
        peers = [c for c in clients if c not in ours] if number < scale.http_rounds else []
        for client in peers + ours:
            def work():
                if client.title not in starts:
                    starts[client.title] = measure.start_cost(server, client, url)
                requests = min(scale.http_requests, client.at_most)
                return Outcome(measure.run(server, client, client.get(url, requests, concurrency)), requests, starts[client.title])
            rows.attempt(client, work)
    return rows


def rounds(scale):
    return 2 * scale.http_rounds - 1


def small(report, clients, namespaces, scale):
    with Server(namespaces) as server:
        for protocol in ORIGINS:
            starts, lines, reference = {}, [], clients[0]
            for concurrency in CONCURRENCIES:
                rows = compare(server, clients, protocol, concurrency, scale, starts)
                for client in clients:
                    found = rows.of(client)
                    compared = measure.ratio(found, rows.of(reference), lambda o: o.cpu)
                    peak = measure.median(found, lambda o: o.cost.peak)
                    lines.append([client.title, str(concurrency), number(measure.median(found, lambda o: o.cost.rate(o.requests)), 0),
                                  number(measure.median(found, lambda o: o.cpu)), number(compared, 2), number(peak),
                                  number(measure.median(found, lambda o: o.cost.connections), 0),
                                  number(measure.median(found, lambda o: o.cost.sleeps / o.requests), 2),
                                  number(measure.median(found, lambda o: o.cost.preemptions / o.requests), 2)] if found
                                 else [f'{client.title} ({rows.reason(client)})', str(concurrency)] + [''] * 7)
                    if client.ours:
                        report.bar('http-small', f'{client.title}, {protocol}, {concurrency} at once: CPU a request, ratio to {REFERENCE}', compared,
                                   (ON_LOOP if client.on_loop else ELSEWHERE)[concurrency], digits=2)
                        if concurrency == CONCURRENCIES[-1]:
                            report.bar('http-small', f'{client.title}, {protocol}, {concurrency} at once: peak memory', peak, MEMORY, 'MiB')
            report.section(f'HTTP: small requests, {protocol}', f'{scale.http_requests:,} GETs of 1 KiB, connections kept'
                           f'{slower(clients, scale)}. CPU of the run without that of a run with one request, by the number of requests; '
                           f'ratio to {REFERENCE} in the same round; *switches* are voluntary, one at least for each futex that is waited for. Rounds: {rounds(scale)}, of the peers {scale.http_rounds}; medians.', HEADER, lines, words=2)


def slower(clients, scale):
    slow = [c for c in clients if c.program and c.at_most < scale.http_requests]
    return ''.join(f' ({c.title}: {c.at_most:,})' for c in slow)
