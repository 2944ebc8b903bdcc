# SPDX-License-Identifier: Apache-2.0
"""Two uplinks to one slow server, and the ways in which the preferred one goes away."""
import json
import os
import subprocess
import threading
import time

from harness.process import ENVIRONMENT, Scratch

SERVER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), 'Origin', 'throttled')
ADDRESS = '10.9.0.1'
FIRST, SECOND = 'veth0', 'veth1'
# Title to what is done, with the namespaces of the lab.
CUTS = {
    'link down': lambda lab: lab.ip('-n', lab.name, 'link', 'set', FIRST, 'down'),
    'no carrier': lambda lab: lab.ip('-n', lab.far, 'link', 'set', 'far-' + FIRST, 'down'),
    'address removed': lambda lab: lab.ip('-n', lab.name, 'addr', 'flush', 'dev', FIRST),
    'route deleted': lambda lab: lab.ip('-n', lab.name, 'route', 'del', 'default', 'dev', FIRST),
    'route replaced': lambda lab: lab.ip('-n', lab.name, 'route', 'replace', 'default', 'via', lab.gateway(SECOND), 'dev', SECOND, 'metric', '100'),
}


def dead_line(lab, link=FIRST):
    """The router stays and answers for itself; nothing comes through it, either way."""
    own, device = lab.gateway(link), 'far-' + link
    nft(lab, f'add table ip {link}; add chain ip {link} i {{ type filter hook input priority 0; }}; '
             f'add chain ip {link} o {{ type filter hook output priority 0; }}; '
             f'add rule ip {link} i iifname {device} ip daddr != {own} drop; add rule ip {link} o oifname {device} ip saddr != {own} drop')


def lossy(lab, percent):
    """Both lines lose so many packets of a hundred in each direction."""
    nft(lab, 'add table ip loss; add chain ip loss i { type filter hook input priority 0; }; add chain ip loss o { type filter hook output priority 0; }; '
             f'add rule ip loss i numgen random mod 100 < {percent} drop; add rule ip loss o numgen random mod 100 < {percent} drop')


def nft(lab, rules):
    subprocess.run(['ip', 'netns', 'exec', lab.far, 'nft', rules], check=True)


def prepare(lab):
    """Both uplinks as they are at the start of every transfer."""
    nft(lab, 'flush ruleset')
    subprocess.run(['ip', '-n', lab.far, 'addr', 'replace', ADDRESS + '/32', 'dev', 'lo'], check=True)
    for link in (FIRST, SECOND):
        subprocess.run(['ip', '-n', lab.name, 'addr', 'replace', lab.own(link) + '/24', 'dev', link], check=True)
        lab.ip('-n', lab.name, 'link', 'set', link, 'up')
        lab.ip('-n', lab.far, 'link', 'set', 'far-' + link, 'up')
    subprocess.run(['ip', '-n', lab.name, 'route', 'flush', 'default'], capture_output=True)
    restore_route(lab, FIRST)
    restore_route(lab, SECOND)
    # The carrier comes from a work queue of the kernel's.
    time.sleep(1.2)


def restore_route(lab, link):
    lab.ip('-n', lab.name, 'route', 'replace', 'default', 'via', lab.gateway(link), 'dev', link, 'metric', '100' if link == FIRST else '200')


def count_packets(lab, link):
    """Has the far end count the IPv4 packets that arrive over a link from now on: those of IPv6, which the kernel sends by itself, are none."""
    nft(lab, 'add table ip count; add counter ip count arrived; add chain ip count i { type filter hook prerouting priority 0; }; '
             f'add rule ip count i iifname far-{link} counter name arrived')


def packets(lab):
    """How many that are."""
    shown = subprocess.run(['ip', 'netns', 'exec', lab.far, 'nft', '-j', 'list', 'counter', 'ip', 'count', 'arrived'], check=True, capture_output=True, text=True).stdout
    return next(entry['counter']['packets'] for entry in json.loads(shown)['nftables'] if 'counter' in entry)


class Server:
    """The slow server in the far namespace, as a context."""

    def __init__(self, lab, size, rate, tls=None):
        command = ['/usr/bin/python3', '-B', SERVER, ADDRESS, '8080', '--size', str(size), '--rate', str(rate)]
        command += ['--tls', tls.certificate, tls.key] if tls else []
        self.command = ['ip', 'netns', 'exec', lab.far, *command]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=ENVIRONMENT)
        self.sum = json.loads(self.process.stdout.readline())['sha256']
        # Read as it comes: a full pipe would hold the server up.
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout))
        self.reader.start()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.events = [json.loads(line) for line in self.lines]

    def requests(self):
        """What arrived, once it has ended."""
        return [e for e in self.events if e['event'] == 'request']


class Certificate:
    """A self-signed certificate of the server's."""

    def __init__(self):
        self.certificate, self.key = Scratch.file(), Scratch.file()
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30', '-subj',
                        '/CN=' + ADDRESS, '-addext', 'subjectAltName=IP:' + ADDRESS, '-keyout', self.key, '-out', self.certificate],
                       check=True, capture_output=True)


class Streams:
    """nginx in the far namespace, HTTP/2 at 8443 and plain HTTP/1.1 at 8081, as a context.

    So many bytes a second for each stream over the preferred path; 0: as many as there are."""

    CONFIGURATION = """
        daemon off; user root; pid RUN/pid; error_log RUN/error.log; worker_processes 1;
        events {}
        http {
          log_format lines '$connection $remote_addr $status $msec $request_time';
          access_log RUN/access.log lines;
          client_body_temp_path RUN/t1; proxy_temp_path RUN/t2; fastcgi_temp_path RUN/t3; uwsgi_temp_path RUN/t4; scgi_temp_path RUN/t5;
          map $remote_addr $pace { SECOND 0; default RATE; }
          server {
            listen ADDRESS:8443 ssl http2; listen ADDRESS:8081; root RUN/www; limit_rate $pace; http2_max_concurrent_streams 128;
            ssl_certificate CERTIFICATE; ssl_certificate_key KEY;
          }
        }
        """

    def __init__(self, lab, size, rate, tls):
        self.lab, self.run = lab, Scratch.file()
        os.makedirs(os.path.join(self.run, 'www'))
        self.blob = os.urandom(size)
        with open(os.path.join(self.run, 'www', 'blob'), 'wb') as file:
            file.write(self.blob)
        text = self.CONFIGURATION
        for word, value in (('SECOND', lab.own(SECOND)), ('RATE', str(rate)), ('ADDRESS', ADDRESS), ('CERTIFICATE', tls.certificate),
                            ('KEY', tls.key), ('RUN', self.run)):
            text = text.replace(word, value)
        with open(os.path.join(self.run, 'nginx.conf'), 'w') as file:
            file.write(text)

    def __enter__(self):
        self.process = subprocess.Popen(['ip', 'netns', 'exec', self.lab.far, 'nginx', '-c', os.path.join(self.run, 'nginx.conf')],
                                        stdin=subprocess.DEVNULL, env=ENVIRONMENT)
        end = time.monotonic() + 10
        while not os.path.exists(os.path.join(self.run, 'pid')):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError('nginx did not start')
            time.sleep(.02)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        with open(os.path.join(self.run, 'access.log')) as file:
            lines = [line.split() for line in file]
        self.second = [(line[0], line[2], float(line[3]) - float(line[4])) for line in lines if line[1] == self.lab.own(SECOND)]
