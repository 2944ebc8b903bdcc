# SPDX-License-Identifier: Apache-2.0
"""One run of a client: what it cost, by the kernel's account, and whether it did what it was asked for."""
import contextlib
import os
import signal
import statistics
import subprocess
from dataclasses import dataclass

from harness import placement, programs
from harness.process import ProcessFailed, Scratch, figures

TIMEOUT = 180


@dataclass
class Cost:
    seconds: float
    cpu: float         # seconds, user and system
    peak: float        # MiB
    sleeps: int        # voluntary context switches
    preemptions: int
    connections: int

    def rate(self, requests):
        return requests / self.seconds

    def microseconds(self, requests, start):
        """CPU for a request, without what the program needs to start and to connect."""
        return max(0, self.cpu - start.cpu) / requests * 1e6


def environment(server):
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith('_proxy')}
    # Passing files of downloads belong where their destinations are: a gigabyte that is copied between file systems is no cost of a client.
    return {**kept, 'LC_ALL': 'C', 'TMPDIR': server.run, 'BENCH_CA_FILE': server.certificate, 'CURL_CA_BUNDLE': server.certificate}


def run(server, client, command, accounting=None):
    """Runs a client's command to its end. `accounting` replaces the launcher that asks the kernel, and its figures."""
    figures_file, errors = Scratch.file(), Scratch.file()
    launcher = accounting or [programs.built('account'), figures_file]
    before = server.connections()
    try:
        with open(errors, 'w') as said:
            process = subprocess.Popen(server.namespaces.inside(*client.wrapper(), *launcher, *command), stdin=subprocess.DEVNULL,
                                       stdout=said, stderr=said, env=environment(server), start_new_session=True,
                                       preexec_fn=placement.ahead())
        try:
            process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            raise ProcessFailed(f'not ready in {TIMEOUT} s')
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        words = open(errors, errors='replace').read().strip().splitlines()
        if accounting:
            return None
        found = figures(open(figures_file).read()) if os.path.exists(figures_file) else {'status': process.returncode}
        if found['status']:
            raise ProcessFailed(f'ended with {found["status"]:.0f}' + (f': {words[-1][:80]}' if words else ''))
        return Cost(found['wall_us'] / 1e6, (found['user_us'] + found['system_us']) / 1e6, found['peak_kib'] / 1024,
                    int(found['sleeps']), int(found['preemptions']), server.connections() - before)
    finally:
        for path in (figures_file, errors):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def start_cost(server, client, url):
    """A run with one request: the program's start, and one connection."""
    return sorted((run(server, client, client.get(url, 1, 1)) for _ in range(3)), key=lambda c: c.cpu)[1]


class Rows:
    """The outcomes of every client, round by round: a client that fails once has a reason instead of figures."""

    def __init__(self, clients):
        self.found = {c.title: [] if c.program else 'not built' for c in clients}

    def attempt(self, client, work):
        if isinstance(self.found[client.title], list):
            try:
                self.found[client.title].append(work())
            except ProcessFailed as failure:
                self.found[client.title] = str(failure)

    def of(self, client):
        """Its outcomes, or None."""
        found = self.found[client.title]
        return found if isinstance(found, list) and found else None

    def reason(self, client):
        return self.found[client.title]


def ratio(outcomes, reference, figure):
    """Of a figure to the reference's in the same round; the median of the rounds, of which the reference may have more."""
    if not outcomes or not reference or len(outcomes) > len(reference):
        return None
    return statistics.median(figure(o) / max(figure(r), 1e-9) for o, r in zip(outcomes, reference))


def median(outcomes, figure):
    return statistics.median(map(figure, outcomes)) if outcomes else None
