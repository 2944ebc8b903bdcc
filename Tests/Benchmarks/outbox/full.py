# SPDX-License-Identifier: Apache-2.0
"""An outbox with a million requests: opened, listed, and emptied at both ends."""
import contextlib
import os
import shutil
import socket
import subprocess
import time

from harness import programs
from harness.report import number
from outbox.beside import folder, said

WAITING, SAMPLE = 1_000_000, 10_000
BAR_START, BAR_MEMORY, BAR_PAGE, BAR_SLOPE = 200, 40, 50, 1.1
PORT = 8087
SERVER = '''daemon off; user root; pid {run}/pid; worker_processes 1; error_log /dev/null;
events {{ worker_connections 64; }}
http {{
  access_log off; keepalive_requests 100000000; client_body_temp_path {run}/body; proxy_temp_path {run}/proxy;
  fastcgi_temp_path {run}/fastcgi; uwsgi_temp_path {run}/uwsgi; scgi_temp_path {run}/scgi;
  server {{ listen 127.0.0.1:{port}; return 204; }}
}}
'''


@contextlib.contextmanager
def server(lab, place):
    """nginx in the namespace, which takes every request."""
    run = os.path.join(place, 'nginx')
    os.makedirs(run)
    with open(os.path.join(run, 'conf'), 'w', encoding='utf-8') as file:
        file.write(SERVER.format(run=run, port=PORT))
    process = subprocess.Popen(lab.inside('nginx', '-c', f'{run}/conf', '-e', f'{run}/log'), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 10
        while not os.path.exists(f'{run}/pid') and process.poll() is None and time.monotonic() < end:
            time.sleep(.02)
        yield
    finally:
        process.terminate()
        process.wait()


def full(report, program, lab):
    place = folder()
    outbox = os.path.join(place, 'outbox')
    try:
        said([program, 'fill', outbox, f'http://127.0.0.1:{PORT}', str(WAITING)])
        size = os.path.getsize(os.path.join(outbox, 'outbox.sqlite'))
        figures = said([program, 'full', outbox])
        with server(lab, place):
            figures |= said(lab.inside(program, 'ends', outbox, str(SAMPLE)))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    took = lambda word: figures[word][1]
    rate = lambda word: SAMPLE / took(word) * 1e3
    pages = {'first': 'the first 1,000 listed', 'middle': '1,000 in the middle', 'last': 'the last 1,000', 'lane': '1,000 of a lane in the middle'}
    report.section(
        f'Outbox: {WAITING:,} requests wait',
        f'In ten lanes, {size / 1e6:,.0f} MB, in the cache of the system. The first {SAMPLE:,} are delivered to nginx while all others wait; then '
        f'all but the last {SAMPLE:,} are removed, and these are delivered. What lies between is not.',
        ['what', 'figure', 'unit'],
        [['opened', number(took('open')), 'ms'],
         ['opened, and a request taken', number(took('start')), 'ms'],
         *[[title, number(took(word)), 'ms'] for word, title in pages.items()],
         ['delivery begun', number(took('delivery')), 'ms'],
         ['memory, at its peak', number(took('memory') / 1024), 'MiB'],
         ['delivered, the first', number(rate('first-delivered'), 0), 'a second'],
         ['delivered, the last', number(rate('last-delivered'), 0), 'a second'],
         ['written for each delivery, the first', number(took('first-delivered-written') / SAMPLE, 0), 'bytes'],
         ['written for each delivery, the last', number(took('last-delivered-written') / SAMPLE, 0), 'bytes']])
    what = f'{WAITING:,} wait'
    report.bar('outbox', f'{what}: opened, and a request taken', took('start'), BAR_START, 'ms')
    report.bar('outbox', f'{what}: memory at its peak', took('memory') / 1024, BAR_MEMORY, 'MiB')
    report.bar('outbox', f'{what}: the slowest page of 1,000', max(took(word) for word in pages), BAR_PAGE, 'ms')
    report.bar('outbox', f'{what}: time of the last deliveries beside the first', took('last-delivered') / took('first-delivered'), BAR_SLOPE, digits=2)
