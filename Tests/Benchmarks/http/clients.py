# SPDX-License-Identifier: Apache-2.0
"""The rows: each client's commands, and what it cannot do."""
import os
from dataclasses import dataclass

from harness import programs

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, 'load')  # the package of the program on SessionManager
REFERENCE = 'C on libcurl multi'
# A client that reads the system's authorities alone is shown the server's among them, in a mount namespace of its own
# (which `ip netns exec` has made already).
SYSTEM_AUTHORITIES = 'mount --bind "$BENCH_CA_FILE" /etc/ssl/certs/ca-certificates.crt && exec "$@"'


@dataclass
class Client:
    title: str
    program: list | None             # then: get URL REQUESTS CONCURRENCY | download URL FILE | upload URL FILE; None: not built
    ours: bool = False               # the bars are for it
    needs_system_authorities: bool = False
    at_most: int = 1_000_000         # requests in a run, for one that is slow
    widest: int = 1_000              # transfers at once
    has_files: bool = True           # downloads and uploads
    on_loop: bool = False            # answers are used on the thread that receives them

    def get(self, url, requests, concurrency):
        return [*self.program, 'get', url, str(requests), str(concurrency)]

    def download(self, url, path):
        return [*self.program, 'download', url, path]

    def upload(self, url, path):
        return [*self.program, 'upload', url, path]

    def wrapper(self):
        """What has to be around the program that is accounted for."""
        return ['sh', '-ec', SYSTEM_AUTHORITIES, 'sh'] if self.needs_system_authorities else []


class Curl(Client):
    """The command-line program, which has its own words for everything."""

    def get(self, url, requests, concurrency):
        parallel = ['--parallel', '--parallel-max', str(concurrency)] if concurrency > 1 else []
        return [*self.program, *parallel, '-o', '/dev/null', f'{url}?[1-{requests}]']

    def download(self, url, path):
        return [*self.program, '-o', path, url]

    def upload(self, url, path):
        return [*self.program, '-o', '/dev/null', '-T', path, url]


class Limited(Client):
    """A client with fewer connections to a host than transfers: the others wait."""

    CONNECTIONS = 64

    def get(self, url, requests, concurrency):
        return [*super().get(url, requests, concurrency), str(self.CONNECTIONS)]


def limited(client):
    fields = {**vars(client), 'title': f'{client.title}, {Limited.CONNECTIONS} connections'}
    return Limited(**fields)


def rows(reach, with_peers, build, beside=None):
    """All rows, the reference first. `reach` is the program on SessionManager: None when it did not build; `beside` finds that of another
    build."""
    def peer(folder, product):
        return programs.build_swift(os.path.join(HERE, 'peers', folder), product, build, os.path.join(programs.BUILT, 'peers', folder))

    clients = [Client(REFERENCE, [programs.built('http_reference')]), Curl('`curl`', ['curl', '-sS', '--fail'], widest=300)]
    if with_peers:
        awaited = peer('Awaited', 'awaited-bench')
        asynchronous, session = peer('AsyncHTTPClient', 'async-http-client-bench'), peer('URLSession', 'url-session-bench')
        clients += [Client('C, awaited by Swift tasks', awaited and [awaited], has_files=False),
                    Client('AsyncHTTPClient 1.37.0', asynchronous and [asynchronous]),
                    Client('URLSession', session and [session], needs_system_authorities=True, at_most=4_000, widest=64)]
    if os.path.exists(os.path.join(PROGRAM, 'Package.swift')):
        ways = {'Reach, async': [], 'Reach, async on its thread': ['--on-loop'], 'Reach, blocks': ['--blocks'],
                'Reach, blocks on its thread': ['--blocks-on-loop']}
        clients += [Client(title, reach and [reach, *way], ours=True, needs_system_authorities=True, on_loop=title.endswith('on its thread'))
                    for title, way in ways.items()]
        if beside:
            clients += [Client(f'{title}, other build', [beside('reach-http-bench'), *way], ours=True, needs_system_authorities=True,
                               on_loop=title.endswith('on its thread'))
                        for title, way in ways.items()]
    return clients
