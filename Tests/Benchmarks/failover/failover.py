# SPDX-License-Identifier: Apache-2.0
"""Part failover: the paths of running and of waiting requests die; who goes on, and after how long."""
import hashlib
import os
import subprocess
import time
from dataclasses import dataclass, field

from harness.process import ENVIRONMENT, Scratch
from harness.report import number

from . import lab as paths

HERE = os.path.dirname(os.path.abspath(__file__))
RATE = 1 << 20
CUT_AFTER = 3
SIZE, LIMIT = 8 << 20, 30
BAR_GAP, BAR_TWICE, BAR_RETURN = 150, 64 << 10, 300
BAR_WAKEUPS, BAR_WEIGHT = 0, 4 << 10
STREAMS = 32
PROXIES = ('http_proxy', 'https_proxy', 'all_proxy', 'no_proxy')
QUIET = {k: v for k, v in ENVIRONMENT.items() if k.lower() not in PROXIES}


@dataclass
class Programs:
    """What is measured; None or nothing where it was not built."""
    reach: str | None
    bench: str | None = None         # the program on SessionManager
    python: str | None = None        # one that has aiohttp
    http: list = field(default_factory=list)  # HTTP clients of other libraries


class Client:
    def __init__(self, title, command, ours=False):
        self.title, self.command, self.ours = title, command, ours

    def start(self, lab, file, path='/blob', tls=None):
        url = f'{"https" if tls else "http"}://{paths.ADDRESS}:8080{path}'
        trust = ['--cacert', tls.certificate] if tls else []
        words = []
        for word in self.command:
            words += trust if word == 'TRUST' else [word.replace('URL', url).replace('FILE', file)]
        return subprocess.Popen(lab.inside(*words), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=QUIET)


CURL = ['curl', '-sS', '--retry', '5', '--retry-all-errors', 'TRUST']


def clients(programs):
    rows = [Client('`curl --retry 5 --retry-all-errors -C -`', [*CURL, '-C', '-', '-o', 'FILE', 'URL'])]
    if programs.python:
        rows.append(Client('aiohttp', [programs.python, os.path.join(HERE, 'aiohttp_get.py'), 'URL', 'FILE']))
    rows += [Client(client.title, client.download('URL', 'FILE')) for client in programs.http]
    if programs.reach:
        rows.append(Client('`reach get`', [programs.reach, 'get', '-q', 'TRUST', 'URL', '-o', 'FILE'], ours=True))
    return rows


def uploaders(programs):
    rows = [Client('`curl --retry 5 --retry-all-errors`', [*CURL, '-T', 'FILE', 'URL'])]
    if programs.reach:
        rows.append(Client('`reach get -X PUT`', [programs.reach, 'get', '-q', 'TRUST', '-X', 'PUT', '-d', '@FILE', 'URL'], ours=True))
    return rows


def finish(process, limit):
    """The exit code; None for one that had to be ended."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def download(lab, client, change, tls=None, wanted=None):
    """One download; `change` is called when it has run for a while and gives the instant from which the gap counts.

    Requests for another path than `wanted` are not its own."""
    paths.prepare(lab)
    file = Scratch.file()
    with paths.Server(lab, SIZE, RATE, tls) as server:
        process = client.start(lab, file, tls=tls)
        time.sleep(CUT_AFTER)
        cut = change()
        code = finish(process, LIMIT)
    whole = os.path.exists(file) and hashlib.sha256(open(file, 'rb').read()).hexdigest() == server.sum
    return outcome(server, cut, code, whole, wanted)


def upload(lab, client, change, tls=None):
    """One upload of as many bytes."""
    paths.prepare(lab)
    file, content = Scratch.file(), os.urandom(SIZE)
    with open(file, 'wb') as body:
        body.write(content)
    with paths.Server(lab, SIZE, RATE, tls) as server:
        process = client.start(lab, file, '/sink', tls)
        time.sleep(CUT_AFTER)
        cut = change()
        code = finish(process, LIMIT)
    sums = [e['sha256'] for e in server.events if e['event'] == 'body']
    return outcome(server, cut, code, sums == [hashlib.sha256(content).hexdigest()])


def outcome(server, cut, code, whole, wanted=None):
    after = [r for r in server.requests() if r['at'] >= cut and wanted in (None, r['path'])]
    return {'gap': (after[0]['at'] - cut) * 1e3 if after else None, 'identical': whole,
            'twice': max((r['twice'] for r in after), default=None), 'end': f'hung for {LIMIT} s' if code is None else f'exit {code}'}


def one_cut(lab, cut):
    def change():
        at = time.monotonic()
        cut(lab)
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


def downloads(report, programs, lab, scale):
    rows = []
    for client in clients(programs):
        runs = [(how, one_cut(lab, cut)) for how, cut in paths.CUTS.items()] + [('both down for 10 s', lambda: both_cut(lab))]
        # What peers do about one loss they do about all.
        for how, change in runs if client.ours or not rows or client.title == rows[0][0] else [runs[0], runs[-1]]:
            r = download(lab, client, change)
            rows.append([client.title, how, number(r['gap'], 0), 'yes' if r['identical'] else 'no', number(r['twice'], 0), r['end']])
            if client.ours:
                judge(report, f'{client.title}, {how}', r, BAR_GAP if how in paths.CUTS else BAR_RETURN)
    report.section(
        'A path dies under a download',
        f'8 MiB at 1 MiB/s from a server with two ways to it; the preferred one goes away after {CUT_AFTER} s. *Gap*: from just before the '
        'change until the next request reaches the server. *Twice*: bytes asked for again that the client\'s kernel had acknowledged.',
        ['client', 'what happens', 'gap ms', 'identical', 'bytes twice', 'end'], rows, words=2)


def judge(report, what, r, bar, counts_twice=True, part='failover'):
    report.bar(part, f'{what}: gap at the server', r['gap'], bar, 'ms', 0)
    report.claim(part, f'{what}: identical', r['identical'])
    if counts_twice:
        report.bar(part, f'{what}: fetched twice', r['twice'], BAR_TWICE, 'bytes', 0)


def further(report, programs, lab, tls):
    rows = []
    for title, run, chosen, wire in (('download, https', download, clients(programs), tls), ('upload, http', upload, uploaders(programs), None),
                                     ('upload, https', upload, uploaders(programs), tls)):
        for client in chosen:
            if 'TRUST' not in client.command:
                continue
            for how in ('link down', 'no carrier'):
                r = run(lab, client, one_cut(lab, paths.CUTS[how]), wire)
                rows.append([client.title, f'{title}, {how}', number(r['gap'], 0), 'yes' if r['identical'] else 'no', r['end']])
                if client.ours:
                    # What was on its way inside TLS is decrypted by the program and not by the kernel: more than it has had is known of.
                    judge(report, f'{client.title}, {title}, {how}', r, BAR_GAP, counts_twice=False)
    report.section('TLS and uploads', 'The same by TLS, and uploads of 8 MiB at 1 MiB/s. *Identical*: the server received the whole once, and it is the same.',
                   ['client', 'what happens', 'gap ms', 'identical', 'end'], rows, words=2)


def streams(report, programs, lab, tls, how='link down', cut=paths.CUTS['link down'], bar=BAR_GAP, part='failover'):
    """Many downloads as streams of one connection by HTTP/2."""
    paths.prepare(lab)
    folder, count = Scratch.file(), STREAMS
    os.makedirs(folder)
    with paths.Streams(lab, 1 << 20, 128 << 10, tls) as server:
        command = [programs.bench, 'streams', f'https://{paths.ADDRESS}:8443/blob', str(count), folder, tls.certificate]
        process = subprocess.Popen(lab.inside(*command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=QUIET)
        time.sleep(CUT_AFTER)
        at = time.time()
        cut(lab)
        code = finish(process, LIMIT)
    files = [os.path.join(folder, str(number)) for number in range(count)]
    whole = all(os.path.exists(file) and open(file, 'rb').read() == server.blob for file in files)
    gaps = [(start - at) * 1e3 for _, _, start in server.second]
    connections, partial = len({c for c, _, _ in server.second}), all(status == '206' for _, status, _ in server.second)
    first, last = (min(gaps), max(gaps)) if gaps else (None, None)
    report.section(
        'Streams of one connection', f'{count} downloads of 1 MiB by HTTP/2 over one connection, with this after {CUT_AFTER} s: {how}. '
        'Gaps until the first and the last of them has reached the server again; by its own log, to the millisecond.',
        ['client', 'streams', 'first ms', 'last ms', 'connections', 'by range', 'identical', 'end'],
        [['Reach', str(count), number(first, 0), number(last, 0), str(connections), 'yes' if partial and gaps else 'no', 'yes' if whole else 'no',
          f'exit {code}']])
    report.bar(part, f'{count} streams: gap of the last', last, bar, 'ms', 0)
    report.bar(part, f'{count} streams: connections afterwards', connections or None, 1, digits=0)
    report.claim(part, f'{count} streams: identical, each by range', whole and partial and len(gaps) == count)


def waits(pid):
    """How often each thread of the library has waited so far; it has a name of its own."""
    counts = {}
    for thread in os.listdir(f'/proc/{pid}/task'):
        try:
            with open(f'/proc/{pid}/task/{thread}/status') as status:
                facts = dict(line.split(None, 1) for line in status if line.startswith(('Name:', 'voluntary_ctxt_switches:')))
        except OSError:
            continue  # It has just ended.
        if facts['Name:'].strip() == 'reach':
            counts[thread] = int(facts['voluntary_ctxt_switches:'])
    return counts


def wakeups(pid, seconds):
    """How often the library's thread wakes up in this time; None where there is none.

    Swift's own executor, which runs the program's functions, has a watcher that wakes every second as soon as it was used.
    """
    before = waits(pid)
    time.sleep(seconds)
    after = waits(pid)
    return sum(after.values()) - sum(before.values()) if before and before.keys() == after.keys() else None


def queue(report, programs, lab):
    """Requests that wait while both links are down."""
    rows = []
    for count in (100, 1000):
        paths.prepare(lab)
        for link in (paths.FIRST, paths.SECOND):
            lab.ip('-n', lab.name, 'link', 'set', link, 'down')
        with paths.Server(lab, 1 << 10, RATE) as server:
            command = [programs.bench, 'queue', f'http://{paths.ADDRESS}:8080/quick', str(count)]
            process = subprocess.Popen(lab.inside(*command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=QUIET)
            queued = process.stdout.readline().split('bytes=')
            time.sleep(2)
            woken = wakeups(process.pid, 5)
            time.sleep(3)
            lab.ip('-n', lab.name, 'link', 'set', paths.SECOND, 'up')
            at = time.monotonic()
            paths.restore_route(lab, paths.SECOND)
            code = finish(process, LIMIT)
        seen = [r for r in server.requests() if r['query'] != 'first']
        once = sorted(int(r['query']) for r in seen) == list(range(count))
        ordered = 'ordered=1' in process.stdout.read()
        first, last = ((seen[0]['at'] - at) * 1e3, (seen[-1]['at'] - at) * 1e3) if seen else (None, None)
        weight = int(queued[1]) if len(queued) > 1 else None
        rows.append(['Reach', str(count), number(woken, 0), number(weight, 0), number(first, 0), number(last, 0), 'yes' if ordered else 'no',
                     'yes' if once else 'no', f'exit {code}'])
        report.bar('failover', f'{count} queued: wake-ups in 5 s', woken, BAR_WAKEUPS, digits=0)
        if count == 1000:
            report.bar('failover', f'{count} queued: memory of each', weight, BAR_WEIGHT, 'bytes', 0)
        report.bar('failover', f'{count} queued: the first, from the route\'s return', first, BAR_RETURN, 'ms', 0)
        report.claim('failover', f'{count} queued: started in order, each received once', ordered and once)
    report.section(
        'Requests that wait', 'Queued while both links are down, for 10 s; then the second one comes back. From its route on until the first and '
        'the last reach the server, over six connections at most, spread by the ramp. *Wake-ups*: of the thread that transfers and watches the network.',
        ['client', 'requests', 'wake-ups in 5 s', 'bytes each', 'first ms', 'last ms', 'in order', 'once', 'end'], rows)


def failover(report, programs, lab, scale):
    tls = paths.Certificate()
    downloads(report, programs, lab, scale)
    further(report, programs, lab, tls)
    if programs.bench:
        streams(report, programs, lab, tls)
        queue(report, programs, lab)
