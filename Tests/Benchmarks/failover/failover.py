# SPDX-License-Identifier: Apache-2.0
"""Part failover: the path of a running download dies; who goes on over the other one, and after how long."""
import hashlib
import os
import subprocess
import time

from harness.process import ENVIRONMENT, Scratch
from harness.report import number

from . import lab as paths

RATE = 1 << 20
CUT_AFTER = 3
BAR_GAP, BAR_TWICE, BAR_RETURN = 150, 64 << 10, 300
PROXIES = ('http_proxy', 'https_proxy', 'all_proxy', 'no_proxy')
QUIET = {k: v for k, v in ENVIRONMENT.items() if k.lower() not in PROXIES}


class Client:
    def __init__(self, title, command, ours=False):
        self.title, self.command, self.ours = title, command, ours

    def start(self, lab, file):
        url = f'http://{paths.ADDRESS}:8080/blob'
        words = [word.replace('URL', url).replace('FILE', file) for word in self.command]
        return subprocess.Popen(lab.inside(*words), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=QUIET)


def clients(reach):
    rows = [Client('`curl --retry 5 --retry-all-errors -C -`',
                   ['curl', '-sS', '--retry', '5', '--retry-all-errors', '-C', '-', '-o', 'FILE', 'URL'])]
    if reach:
        rows.append(Client('`reach get`', [reach, 'get', '-q', 'URL', '-o', 'FILE'], ours=True))
    return rows


def finish(process, limit):
    """The exit code; None for one that had to be ended."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def run(lab, client, size, limit, change):
    """One download; `change` is called when it has run for a while and gives the instant from which the gap counts."""
    paths.prepare(lab)
    file = Scratch.file()
    with paths.Server(lab, size, RATE) as server:
        process = client.start(lab, file)
        time.sleep(CUT_AFTER)
        cut = change()
        code = finish(process, limit)
    after = [r for r in server.requests() if r['at'] >= cut]
    whole = os.path.exists(file) and hashlib.sha256(open(file, 'rb').read()).hexdigest() == server.sum
    return {'code': code, 'gap': (after[0]['at'] - cut) * 1e3 if after else None, 'identical': whole,
            'twice': max((r['twice'] for r in after), default=None), 'requests': len(server.requests())}


def one_cut(lab, how):
    def change():
        at = time.monotonic()
        paths.CUTS[how](lab)
        return at
    return change


def both_cut(lab):
    """Both uplinks down for ten seconds, then the second one back: the gap counts from its route."""
    for link in (paths.FIRST, paths.SECOND):
        lab.ip('-n', lab.name, 'link', 'set', link, 'down')
    time.sleep(10)
    lab.ip('-n', lab.name, 'link', 'set', paths.SECOND, 'up')
    at = time.monotonic()
    paths.restore_route(lab, paths.SECOND)
    return at


def failover(report, reach, lab, scale):
    size, limit, rows = 8 << 20, 30, []
    for client in clients(reach):
        runs = [(how, one_cut(lab, how)) for how in paths.CUTS] + [('both down for 10 s', lambda: both_cut(lab))]
        for how, change in runs:
            r = run(lab, client, size, limit, change)
            end = f'hung for {limit} s' if r['code'] is None else f'exit {r["code"]}'
            rows.append([client.title, how, number(r['gap'], 0), 'yes' if r['identical'] else 'no', number(r['twice'], 0), end])
            if client.ours:
                bar = BAR_GAP if how in paths.CUTS else BAR_RETURN
                report.bar('failover', f'{client.title}, {how}: gap at the server', r['gap'], bar, 'ms', 0)
                report.claim('failover', f'{client.title}, {how}: identical', r['identical'])
                report.bar('failover', f'{client.title}, {how}: fetched twice', r['twice'], BAR_TWICE, 'bytes', 0)
    report.section(
        'A path dies under a download',
        f'8 MiB at 1 MiB/s from a server with two ways to it; the preferred one goes away after {CUT_AFTER} s. *Gap*: from just before the '
        'change until the next request reaches the server. *Twice*: bytes asked for again that the client\'s kernel had acknowledged.',
        ['client', 'what happens', 'gap ms', 'identical', 'bytes twice', 'end'], rows, words=2)
