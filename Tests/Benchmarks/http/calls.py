# SPDX-License-Identifier: Apache-2.0
"""Part http-calls: the system calls of files by TLS, and what its ciphers cost: what the CPU time of part http-big is made of."""
import os
import re
import subprocess

from harness.process import ProcessFailed, Scratch
from harness.report import number

from . import measure
from .big import download, upload
from .server import MEDIUM, Server

RECORD = 16 << 10  # what a record of TLS holds at most (RFC 8446 §5.1)
KINDS = {'receive or read': r'recv\w*|p?read\w*', 'send or write': r'send\w*|p?write\w*', 'wait for a socket': r'p?poll|epoll_\w*wait\d*',
         'futex': 'futex'}
CASES = (('download', download, 'https, HTTP/1.1'), ('upload', upload, 'https, HTTP/1.1'), ('upload', upload, 'https, HTTP/2'))
CIPHERS = {'TLS_AES_256_GCM_SHA384': 'aes-256-gcm', 'TLS_AES_128_GCM_SHA256': 'aes-128-gcm', 'TLS_CHACHA20_POLY1305_SHA256': 'chacha20-poly1305'}


class Traced:
    """A client below strace; no figure of the kernel's account is taken."""

    def __init__(self, client, trace):
        self.client, self.trace = client, trace

    def __getattr__(self, name):
        return getattr(self.client, name)

    def wrapper(self):
        return [*self.client.wrapper(), 'strace', '-f', '-qq', '-c', '-o', self.trace]


def counted(server, client, move, protocol):
    """The calls of each kind for a record's worth of content."""
    trace = Scratch.file()
    try:
        move(server, Traced(client, trace), protocol, MEDIUM)
        with open(trace) as table:
            calls = {words[-1]: int(words[3]) for words in map(str.split, table) if len(words) >= 5 and words[3].isdigit()}
    finally:
        if os.path.exists(trace):
            os.unlink(trace)
    return {kind: sum(n for name, n in calls.items() if re.fullmatch(names, name)) / (MEDIUM / RECORD) for kind, names in KINDS.items()}


def speed(cipher):
    """Bytes per second for records, by the system's OpenSSL."""
    done = subprocess.run(['openssl', 'speed', '-mr', '-seconds', '1', '-bytes', str(RECORD), '-evp', cipher], capture_output=True, text=True)
    found = re.search(r'^\+F:\d+:[^:]+:([\d.]+)$', done.stdout, re.M)
    return float(found[1]) if found else None


def counted_clients(clients):
    """Those that are built. Of Reach one row: its ways differ by where an answer is handed over, not by how bytes are moved."""
    usable = [c for c in clients if c.has_files and c.program]
    return [c for c in usable if not c.ours] + [c for c in usable if c.ours][:1]


def calls(report, clients, namespaces, _):
    lines = []
    with Server(namespaces) as server:
        for verb, move, protocol in CASES:
            for client in counted_clients(clients):
                try:
                    found = counted(server, client, move, protocol)
                    lines.append([client.title, f'{verb}, {protocol}', *(number(found[kind], 2) for kind in KINDS)])
                except (ProcessFailed, RuntimeError) as failure:
                    lines.append([f'{client.title} ({failure})', f'{verb}, {protocol}', *[''] * len(KINDS)])
    report.section('HTTP: system calls of files by TLS', 'Counted by strace over 256 MiB, for 16 KiB of content, which is a record of TLS: of sockets and files '
                   'alike, and of all threads.', ['client', 'what', *KINDS], lines, words=2)
    report.section('HTTP: ciphers', f'What the system\'s OpenSSL encrypts on one core, records of {RECORD // 1024} KiB.', ['cipher', 'GB/s'],
                   [[name, number((speed(cipher) or 0) / 1e9, 2)] for name, cipher in CIPHERS.items()])
