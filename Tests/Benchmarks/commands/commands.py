# SPDX-License-Identifier: Apache-2.0
"""Part commands: what short commands cost from exec to exit, beside the programs that people use instead."""
import statistics
from dataclasses import dataclass

from harness.report import number
from http import measure
from http.clients import SYSTEM_AUTHORITIES
from http.server import SMALL, Server

ROUNDS, QUICK_ROUNDS = 41, 11


@dataclass
class Command:
    title: str
    line: list | None  # None: not built
    needs_system_authorities: bool = False

    @property
    def program(self):
        return self.line

    def wrapper(self):
        return ['sh', '-ec', SYSTEM_AUTHORITIES, 'sh'] if self.needs_system_authorities else []


def pairs(reach, server, namespaces):
    """What is compared: its name, the peer, ours, and the bar."""
    http, tls = (server.url(protocol, SMALL) for protocol in ('http', 'https, HTTP/1.1'))
    ours = lambda *words: [reach, *words] if reach else None
    return [
        ('a GET of 1 KiB by http', Command('`curl -sSf`', ['curl', '-sSf', '-o', '/dev/null', http]),
         Command('`reach get`', ours('get', http, '-o', '/dev/null')), 1.4),
        ('a GET of 1 KiB by https', Command('`curl -sSf`', ['curl', '-sSf', '-o', '/dev/null', tls]),
         Command('`reach get`', ours('get', tls, '-o', '/dev/null'), needs_system_authorities=True), 1.4),
        ('the path in use', Command('`ip route get`', ['ip', 'route', 'get', namespaces.gateway('veth0')]),
         Command('`reach status`', ours('status')), 3),
    ]


def commands(report, programs, namespaces, scale):
    lines = []
    with Server(namespaces) as server:
        for what, peer, ours, bar in pairs(programs[0], server, namespaces):
            rows = measure.Rows([peer, ours])
            for _ in range(QUICK_ROUNDS if scale.starts < 5 else ROUNDS):
                for command in (peer, ours):
                    rows.attempt(command, lambda: measure.run(server, command, command.line))
            compared = measure.ratio(rows.of(ours), rows.of(peer), lambda cost: cost.cpu)
            for command in (peer, ours):
                found = rows.of(command)
                lines.append([what, command.title, *(number(statistics.median(figure(c) for c in found), 2) for figure in (
                    lambda c: c.cpu * 1e3, lambda c: c.seconds * 1e3, lambda c: c.peak))] if found
                    else [what, f'{command.title} ({rows.reason(command)})', '', '', ''])
                lines[-1].append(number(compared, 2) if command is ours else '1.00')
            report.bar('commands', f'{what}: CPU of {ours.title}, ratio to {peer.title}', compared, bar, digits=2)
    report.section('Short commands', f'From exec to exit, the output to /dev/null; CPU is user and system. Rounds: '
                   f'{QUICK_ROUNDS if scale.starts < 5 else ROUNDS}, medians; the ratio is of the CPU, in the same round.',
                   ['what', 'program', 'CPU ms', 'ms', 'peak MiB', 'ratio'], lines, words=2)
