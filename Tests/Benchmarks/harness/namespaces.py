"""Network namespaces of a benchmark's own: unique names, removed whatever happens, no traffic outside them.

    here ── veth0, 192.0.2.1/24, index 100 ════ 192.0.2.2, index 200 ── there
         └─ veth1, 198.51.100.1/24, index 101 ═ 198.51.100.2, index 201 ┘

Both ends of a pair have different indexes: a pair across namespaces whose ends share one gets its carrier events late.
"""
import atexit
import os
import re
import subprocess
import sys

PREFIX = 'reach-bench-'
LINKS = {'veth0': ('192.0.2', 100, 200), 'veth1': ('198.51.100', 101, 201)}
SETTINGS = ['ipv6.conf.all.accept_dad=0', 'ipv6.conf.default.accept_dad=0', 'ipv6.conf.default.addr_gen_mode=1',
            'ipv6.conf.all.router_solicitations=0', 'ipv6.conf.default.router_solicitations=0']


def enter_own_user_namespace():
    """An ordinary user gets root's rights over namespaces of their own by starting again inside them."""
    if os.geteuid() == 0:
        return
    if os.environ.get('REACH_BENCH_UNSHARED'):
        sys.exit('This kernel does not let an ordinary user make network namespaces: run as root.')
    script = 'mount -t tmpfs tmpfs /run && exec "$0" "$@"'
    os.environ['REACH_BENCH_UNSHARED'] = '1'
    os.execvp('unshare', ['unshare', '--user', '--map-root-user', '--mount', '--net', 'sh', '-c', script, sys.executable, *sys.argv])


def remove_stale():
    """Removes what a killed run has left behind: namespaces that carry the number of a process that is gone."""
    directory = '/run/netns'
    for name in os.listdir(directory) if os.path.isdir(directory) else []:
        owner = re.fullmatch(PREFIX + r'(\d+)-\d+(-far)?', name)
        if owner and not os.path.exists(f'/proc/{owner[1]}'):
            subprocess.run(['ip', 'netns', 'del', name], capture_output=True)


class Namespaces:
    """The pair of namespaces above, as a context."""

    made = 0

    def __init__(self):
        Namespaces.made += 1
        self.name = f'{PREFIX}{os.getpid()}-{Namespaces.made}'
        self.far = self.name + '-far'

    def __enter__(self):
        atexit.register(self.remove)
        for name in (self.name, self.far):
            self.ip('netns', 'add', name)
            for setting in SETTINGS:
                key, value = setting.split('=')
                write = f'echo {value} > /proc/sys/net/{key.replace(".", "/")}'
                subprocess.run(['ip', 'netns', 'exec', name, 'sh', '-c', write], stderr=subprocess.DEVNULL)
            self.ip('-n', name, 'link', 'set', 'lo', 'up')
        for link, (net, index, far) in LINKS.items():
            self.ip('-n', self.name, 'link', 'add', link, 'index', str(index), 'type', 'veth',
                    'peer', 'name', 'far-' + link, 'index', str(far), 'netns', self.far)
            self.ip('-n', self.name, 'addr', 'add', net + '.1/24', 'dev', link)
            self.ip('-n', self.far, 'addr', 'add', net + '.2/24', 'dev', 'far-' + link)
            self.ip('-n', self.name, 'link', 'set', link, 'up')
            self.ip('-n', self.far, 'link', 'set', 'far-' + link, 'up')
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        atexit.unregister(self.remove)
        for name in (self.name, self.far):
            subprocess.run(['ip', 'netns', 'del', name], capture_output=True)

    @staticmethod
    def own(link):
        return LINKS[link][0] + '.1'

    @staticmethod
    def gateway(link):
        return LINKS[link][0] + '.2'

    @staticmethod
    def far_index(link):
        return str(LINKS[link][2])

    def ip(self, *arguments):
        done = subprocess.run(['ip', *arguments], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f'ip {" ".join(arguments)}: {done.stderr.strip()}')

    def default_route(self, link):
        """Makes the default route lead out of a link, or of none."""
        if link:
            self.ip('-n', self.name, 'route', 'replace', 'default', 'via', self.gateway(link), 'dev', link)
        else:
            subprocess.run(['ip', '-n', self.name, 'route', 'flush', 'default'], capture_output=True)

    def restore(self, default='veth0'):
        """Both links up, and the default route where it belongs."""
        for link in LINKS:
            self.ip('-n', self.name, 'link', 'set', link, 'up')
            self.ip('-n', self.far, 'link', 'set', 'far-' + link, 'up')
        self.default_route(default)

    def inside(self, *command):
        return ['ip', 'netns', 'exec', self.name, *command]
