# SPDX-License-Identifier: Apache-2.0
"""Part line: the line behind the preferred router dies, and the router stays; who goes on, and who moves without need."""
import os
import statistics
import subprocess
import sys

from harness import callgrind
from harness.process import ENVIRONMENT
from harness.report import number

from . import failover as parts
from . import lab as paths

HERE = os.path.dirname(os.path.abspath(__file__))
BAR_GAP = 4000
BAR_PROBED, BAR_VERDICT, BAR_HELD = 3000, 50, 1000
HELD = 32
BAR_COST, COST_REQUESTS, COST_AT_ONCE = 1.01, 20_000, 16
FEW, MANY = 200, 5_000  # requests whose instructions are counted
SILENCE = 55  # seconds; get gives up after 60 s without a byte


def downloads(report, programs, lab, scale, tls):
    rows = []
    for client in parts.clients(programs):
        gaps = []
        for _ in range(scale.dead_lines if client.ours else 1):
            r = parts.download(lab, client, parts.one_cut(lab, paths.dead_line))
            gaps.append(r)
        gap = statistics.median(r['gap'] for r in gaps) if all(r['gap'] for r in gaps) else None
        worst = max((r['gap'] or 0 for r in gaps), default=None)
        same = all(r['identical'] for r in gaps)
        rows.append([client.title, 'download', str(len(gaps)), number(gap, 0), number(worst, 0) if gap else '–', 'yes' if same else 'no', gaps[-1]['end']])
        if client.ours:
            report.bar('line', f'{client.title}: gap, median of {len(gaps)}', gap, BAR_GAP, 'ms', 0)
            report.claim('line', f'{client.title}: identical', same)
            report.bar('line', f'{client.title}: fetched twice', max(r['twice'] or 0 for r in gaps), 0, 'bytes', 0)
    for title, run, chosen, wire in (('download, https', parts.download, parts.clients(programs), tls), ('upload', parts.upload, parts.uploaders(programs), None)):
        for client in chosen:
            if client.ours:
                r = run(lab, client, parts.one_cut(lab, paths.dead_line), wire)
                rows.append([client.title, title, '1', number(r['gap'], 0), '–', 'yes' if r['identical'] else 'no', r['end']])
                parts.judge(report, f'{client.title}, {title}', r, BAR_GAP, counts_twice=False, part='line')
    report.section(
        'The line behind the router dies',
        f'8 MiB at 1 MiB/s; the preferred router drops everything but its own after {parts.CUT_AFTER} s, and nothing is configured. *Gap*: until the '
        'next request reaches the server.', ['client', 'what', 'runs', 'gap ms', 'worst ms', 'identical', 'end'], rows, words=2)


def probed(report, programs, lab, scale):
    """With a probe of one's own: the download goes on sooner, and a request after its verdict costs nothing."""
    probe = f'http://{paths.ADDRESS}:8080/quick'
    client = parts.Client('Reach with a probe', [programs.bench, 'probed', 'URL', 'FILE', probe], ours=True)
    gaps = []
    for _ in range(scale.dead_lines):
        gaps.append(parts.download(lab, client, parts.one_cut(lab, paths.dead_line), wanted='/blob'))
    gap = statistics.median(r['gap'] for r in gaps) if all(r['gap'] for r in gaps) else None
    same = all(r['identical'] for r in gaps)
    report.bar('line', f'{client.title}: gap, median of {len(gaps)}', gap, BAR_PROBED, 'ms', 0)
    report.claim('line', f'{client.title}: identical', same)
    paths.prepare(lab)
    with paths.Server(lab, 1 << 20, parts.RATE):
        process = subprocess.Popen(lab.inside(programs.bench, 'verdict', f'http://{paths.ADDRESS}:8080/quick', probe), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, env=parts.QUIET)
        healthy = process.stdout.readline()
        paths.dead_line(lab)
        after = process.communicate('cut\n', timeout=60)[0]
    times = dict(word.split('=') for word in (healthy + after).split())
    late = float(times['after']) - float(times['healthy']) if len(times) == 2 else None
    report.bar('line', 'first request after the verdict: later than on a healthy path', late, BAR_VERDICT, 'ms', 1)
    report.section(
        'The same with a probe', 'A manager with a probe of one\'s own: the download as above, and a new request when the probe has found the line '
        'dead, against one on a healthy path.', ['client', 'runs', 'gap ms', 'identical', 'healthy ms', 'after the verdict ms'],
        [[client.title, str(len(gaps)), number(gap, 0), 'yes' if same else 'no', *(number(float(times[word])) if word in times else '–' for word in ('healthy', 'after'))]])


def held(report, programs, lab, scale):
    """Both lines dead: requests wait for the internet, and go on with the probe's first full answer."""
    rows = []
    for _ in range(scale.dead_lines):
        paths.prepare(lab)
        with paths.Server(lab, 1 << 20, parts.RATE) as server:
            process = subprocess.Popen(lab.inside(programs.bench, 'held', f'http://{paths.ADDRESS}:8080/sink', f'http://{paths.ADDRESS}:8080/quick', str(HELD)),
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=parts.QUIET)
            process.stdout.readline()
            paths.dead_line(lab)
            paths.dead_line(lab, paths.SECOND)
            process.stdin.write('cut\n')
            process.stdin.flush()
            process.stdout.readline()
            paths.nft(lab, 'flush ruleset')
            words = dict(word.split('=') for word in process.communicate(timeout=120)[0].split())
        asked = [r['query'] for r in server.requests() if r['method'] == 'POST']
        rows.append((float(words['late']), int(words['answered']), len(asked), len(set(asked))))
    late, worst = statistics.median(r[0] for r in rows), max(r[0] for r in rows)
    once = all(r[1:] == (HELD, HELD, HELD) for r in rows)
    report.bar('line', f'both lines dead, {HELD} requests: the last answer after the first full probe, median of {len(rows)}', late, BAR_HELD, 'ms', 0)
    report.claim('line', 'both lines dead: each request sent once and answered', once)
    report.section(
        'Both lines die', f'{HELD} POSTs are started when the probe has found both lines dead, and wait; then both are back. *Last answer*: after the probe\'s first full answer.',
        ['client', 'runs', 'last answer ms', 'worst ms', 'each sent once'], [['Reach with a probe', str(len(rows)), number(late, 0), number(worst, 0), 'yes' if once else 'no']])


def cost(report, programs, lab, scale, tls):
    """What looking after lines costs while all is well: the same program with and without it."""
    paths.prepare(lab)
    with paths.Streams(lab, 1 << 10, 0, tls):
        paths.count_packets(lab, paths.SECOND)
        ratios, microseconds = processor(programs, lab, scale)
        counts = instructions(programs, lab)
        aside = paths.packets(lab)
    ratio, counted = statistics.median(ratios), counts[True] / counts[False]
    report.bar('line', 'all is well: instructions a request with the line looked after, ratio to without', counted, BAR_COST, digits=3)
    report.bar('line', 'all is well: packets over the other uplink', aside, 0, digits=0)
    report.section(
        'While all is well', f'GETs of 1 KiB, {COST_AT_ONCE} at once, over the preferred of two uplinks; the same with `rescue = .never`. '
        f'User-space instructions by callgrind: a run of {MANY:,} without a run of {FEW}. CPU, the kernel\'s included: runs of {COST_REQUESTS:,}, medians of '
        f'{len(ratios)} rounds, the ratio of one round. From run to run the CPU differs by more than a hundredth, so that the bar is for the instructions.',
        ['line looked after', 'instructions a request', 'ratio', 'CPU µs a request', 'ratio', 'packets over the other uplink'],
        [['yes', number(counts[True], 0), number(counted, 3), number(statistics.median(microseconds[True]), 1), number(ratio, 3), str(aside)],
         ['no', number(counts[False], 0), '', number(statistics.median(microseconds[False]), 1), '', '']])


def gets(program, lab, watched, requests, wrapper=()):
    words = [program, *([] if watched else ['--unwatched']), 'get', f'http://{paths.ADDRESS}:8081/blob', str(requests), str(COST_AT_ONCE)]
    process = subprocess.Popen(lab.inside(*wrapper, *words), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL if wrapper else None, env=parts.QUIET)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f'{words} ended with {process.returncode}')
    return used.ru_utime + used.ru_stime


def processor(programs, lab, scale):
    """The ratios of the rounds, and the microseconds a request of every run."""
    ratios, microseconds = [], {True: [], False: []}
    for turn in range(scale.cost_rounds):
        # The second of two runs is a little cheaper or dearer than the first on some machines.
        for watched in (True, False) if turn % 2 else (False, True):
            microseconds[watched].append(gets(programs.bench, lab, watched, COST_REQUESTS) / COST_REQUESTS * 1e6)
        ratios.append(microseconds[True][-1] / microseconds[False][-1])
    return ratios, microseconds


def instructions(programs, lab):
    """The instructions a request, with and without the line looked after."""
    bench, counts = callgrind.stripped(programs.bench), {}
    for watched in (True, False):
        few, many = (callgrind.executed(lambda wrapper: gets(bench, lab, watched, requests, wrapper)) for requests in (FEW, MANY))
        counts[watched] = (many - few) / (MANY - FEW)
    return counts


def alarms(report, programs, lab, scale):
    """Transfers from servers that are alive, in every way that looks dead for a while: none may move."""
    rows = []
    for title, query, loss in (('silent for 55 s', f'silent={SILENCE}', 0), ('a byte a second', f'drip={SILENCE}', 0),
                               ('answers after 2 s', 'late=2', 0), ('20 % of all packets lost', 'plain=262144', 20)):
        paths.prepare(lab)
        server = subprocess.Popen(['ip', 'netns', 'exec', lab.far, sys.executable, '-B', os.path.join(HERE, 'alive.py'), paths.ADDRESS, '8080'],
                                  stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=ENVIRONMENT)
        server.stdout.readline()
        if loss:
            paths.lossy(lab, loss)
        url = f'http://{paths.ADDRESS}:8080/?{query}'
        command = lab.inside(programs.reach, 'get', '-q', '-m', '0', url, '-o', '/dev/null')
        processes = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=parts.QUIET)
                     for _ in range(scale.alarms)]
        codes = [parts.finish(process, 400) for process in processes]
        server.terminate()
        peers = server.stdout.read().split()
        server.wait()
        moved = sum(peer != lab.own(paths.FIRST) for peer in peers)
        rows.append([title, str(len(codes)), str(sum(code == 0 for code in codes)), str(len(peers)), str(moved)])
        report.bar('line', f'{title}: transfers that moved', moved, 0, digits=0)
        if not loss:  # with a fifth of all packets lost one of some hundred connections breaks by itself
            report.claim('line', f'{title}: all complete', all(code == 0 for code in codes))
    report.section('Servers that are alive', 'Downloads side by side from a server that looks dead for a while, with a second uplink that works.',
                   ['server', 'transfers', 'complete', 'requests', 'over the second uplink'], rows)


def line(report, programs, lab, scale):
    tls = paths.Certificate()
    if programs.bench:
        # First: the kernel repeats the last packets of connections over lines that died for minutes.
        cost(report, programs, lab, scale, tls)
    downloads(report, programs, lab, scale, tls)
    if programs.bench:
        parts.streams(report, programs, lab, tls, 'the line dies', paths.dead_line, BAR_GAP, 'line')
        probed(report, programs, lab, scale)
        held(report, programs, lab, scale)
    if programs.reach:
        alarms(report, programs, lab, scale)
