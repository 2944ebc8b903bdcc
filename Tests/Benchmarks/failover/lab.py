# SPDX-License-Identifier: Apache-2.0
"""Two uplinks to one slow server, and the ways in which the preferred one goes away."""
import json
import os
import subprocess
import time

from harness.process import ENVIRONMENT

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


def prepare(lab):
    """Both uplinks as they are at the start of every transfer."""
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


class Server:
    """The slow server in the far namespace, as a context."""

    def __init__(self, lab, size, rate):
        command = ['/usr/bin/python3', '-B', SERVER, ADDRESS, '8080', '--size', str(size), '--rate', str(rate)]
        self.command = ['ip', 'netns', 'exec', lab.far, *command]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=ENVIRONMENT)
        self.sum = json.loads(self.process.stdout.readline())['sha256']
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.events = [json.loads(line) for line in self.process.stdout.read().splitlines()]
        self.process.wait()

    def requests(self):
        """What arrived, once it has ended."""
        return [e for e in self.events if e['event'] == 'request']
