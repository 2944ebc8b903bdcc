#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What GLib programs see of the network through libgioreach.so: `make check`, or tests/check.py CLASS[.TEST] for some.

Each test has its number in its name; G-001 to G-011 are in view-test.c. All run in one network namespace, one after the other.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import lab

ONLINE = 'available=yes metered=no connectivity=full'
OFFLINE = 'available=no metered=no connectivity=local'
# GNetworkMonitorNetlink, or from GLib 2.90 on that for systemd-networkd, which starts without it too.
GLIBS_OWN = '^GNetworkMonitor'
NETWORK_UNREACHABLE, HOST_UNREACHABLE, CANCELLED = 38, 37, 19

network = None


class Case(unittest.TestCase):
    """A network as at the start, a folder, and what has to be ended behind the test."""
    options = ()

    def setUp(self):
        network.reset()
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.service = lab.Service(self.folder, *self.options)
        self.addCleanup(self.service.stop, signal.SIGKILL)

    def start(self, **options):
        """The service, and a program that uses it."""
        self.service.start()
        return self.program(self.service, **options)

    def program(self, service, **options):
        program = lab.Program(service, **options)
        self.addCleanup(program.process.kill)
        return program

    def states(self, program):
        """What it says in some turns of its main loop, in which it hears of what has happened."""
        said = []
        for _ in range(20):
            self.service.call('GetStatus')
            said.append(program.ask('state', 'state '))
        return said

    def end(self, program, errors=()):
        """A program ends well, and neither GLib nor the module has printed a word about the network."""
        self.assertEqual(program.close(), 0, program.errors)
        self.assertEqual(program.errors, list(errors))


class PathTests(Case):
    def test_G020_values_are_those_of_the_service_at_once(self):
        program = self.start()
        self.assertEqual(program.type, 'ReachNetworkMonitor')
        self.assertEqual(program.state, f'state {ONLINE}')
        self.end(program)

    def test_G021_without_a_service_glib_takes_its_own_monitor_without_a_word(self):
        began = time.monotonic()
        program = self.program(None)
        self.assertLess(time.monotonic() - began, lab.LIMIT)
        self.assertRegex(program.type, GLIBS_OWN)
        self.end(program)

    def test_G022_pulled_cable(self):
        program = self.start()
        network.pull_cable()
        program.wait(f'network-changed.no. {OFFLINE}')
        network.put_cable_back()
        program.wait(f'network-changed.yes. {ONLINE}')
        self.end(program)

    def test_G023_each_property_notifies_once_and_before_the_signal(self):
        program = self.start()
        network.pull_cable()
        program.wait('network-changed')
        self.assertEqual(program.lines[3:], [
            f'notify::network-available {OFFLINE}', f'notify::connectivity {OFFLINE}', f'network-changed(no) {OFFLINE}'])
        self.end(program)

    def test_G024_default_route_removed_and_added(self):
        program = self.start()
        lab.ip('route', 'del', 'default')
        program.wait(f'network-changed.no. {OFFLINE}')
        lab.ip('route', 'add', 'default', 'via', '10.0.0.1')
        program.wait(f'network-changed.yes. {ONLINE}')
        self.end(program)

    def test_G033_the_example_says_what_the_service_knows(self):
        self.service.start()
        example = lab.Lines([os.path.join(lab.BUILD, 'example')], env=lab.environment(self.service))
        self.addCleanup(example.process.kill)
        example.wait('ReachNetworkMonitor$')
        example.wait('available, full$')
        network.pull_cable()
        example.wait('not available, local$')
        network.put_cable_back()
        example.wait('available, full$')
        self.service.call('SetHint', interface='v0', metered='yes')
        example.wait('available, full, metered$')
        example.process.kill()
        example.close()

    def test_G025_bounce_of_a_cable_changes_no_property(self):
        # A grace that no machine is too slow for.
        self.service.command += ['--monitor-loss-grace', '60s']
        program = self.start()
        network.pull_cable()
        # The service has seen it, and so has the program after a question of its own.
        while self.service.call('GetStatus').get('online') is not False:
            time.sleep(0.01)
        self.assertEqual(program.ask('state', 'state '), f'state {ONLINE}')
        network.put_cable_back()
        program.wait(f'network-changed.yes. {ONLINE}')
        self.assertEqual([line for line in program.lines if line.startswith('notify')], [])
        self.end(program)

    def test_G026_metered_follows_a_hint(self):
        program = self.start()
        self.service.call('SetHint', interface='v0', metered='yes')
        program.wait('network-changed.yes. available=yes metered=yes connectivity=full')
        self.assertEqual(program.lines[3], 'notify::network-metered available=yes metered=yes connectivity=full')
        self.service.call('SetHint', interface='v0', metered='no')
        program.wait(f'network-changed.yes. {ONLINE}')
        self.end(program)

    def test_G027_signals_are_emitted_in_the_main_context_of_the_maker(self):
        program = self.start(arguments=['--thread'])
        network.pull_cable()
        program.wait(f'network-changed.no. {OFFLINE}$')
        self.end(program)

    def test_G028_priority_is_between_networkmanager_and_netlink(self):
        self.service.start()
        listed = subprocess.run(
            [os.path.join(lab.BUILD, 'network-monitor')], env=lab.environment(self.service, GIO_USE_NETWORK_MONITOR='help'),
            stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
        # GLib prints the extensions by their priorities.
        priorities = [int(found) for found in re.findall(r' - (\d+)$', listed, re.MULTILINE)]
        self.assertEqual(priorities, sorted(priorities, reverse=True))
        self.assertEqual([p for p in priorities if 20 <= p <= 30 and p != 25], [30, 28, 20])

    def test_G029_every_change_of_a_burst_ends_in_the_right_state(self):
        program = self.start()
        for _ in range(50):
            lab.ip('route', 'del', 'default')
            lab.ip('route', 'add', 'default', 'via', '10.0.0.1')
        lab.ip('route', 'del', 'default')
        program.wait(f'network-changed.no. {OFFLINE}')
        self.end(program)


class ProbeTests(Case):
    options = ('--probe-url', 'http://10.0.0.1:8080/', '--probe-retry', '1s', '--probe-interval', '10s')

    def setUp(self):
        super().setUp()
        self.server = lab.Lines(network.far_command(sys.executable, os.path.join(lab.HERE, 'probe-server'), '10.0.0.1', '8080'))
        self.addCleanup(self.server.process.kill)
        self.server.wait('ready')

    def test_G030_portal_limited_and_full(self):
        program = self.start()
        for answer in ('portal', 'limited', 'full'):
            self.server.ask(answer, answer)
            program.wait(f'network-changed.yes. available=yes metered=no connectivity={answer}')
        self.end(program)
        self.server.close()

    def test_G032_new_path_is_limited_until_the_probe_has_answered(self):
        program = self.start()
        if 'full' not in program.state:
            program.wait('network-changed.yes. .* connectivity=full')
        network.pull_cable()
        program.wait('network-changed.no.')
        self.server.ask('silent', 'silent')
        network.put_cable_back()
        program.wait('network-changed.yes. available=yes metered=no connectivity=limited')
        self.server.ask('full', 'full')
        program.wait('network-changed.yes. available=yes metered=no connectivity=full')
        self.end(program)
        self.server.close()

    def test_G031_first_word_is_the_portal(self):
        self.server.ask('portal', 'portal')
        self.service.start()
        while self.service.call('GetStatus').get('internet') != 'portal':
            time.sleep(0.02)
        program = self.program(self.service)
        self.assertEqual(program.state, 'state available=yes metered=no connectivity=portal')
        self.end(program)
        self.server.close()


class HostTests(Case):
    def test_G040_hosts_are_asked_of_the_service_without_a_packet(self):
        program = self.start()
        sent = network.sent_packets()
        for command in ('can-reach', 'can-reach-async'):
            self.assertEqual(program.ask(f'{command} 198.51.100.7', '198'), '198.51.100.7: yes')
            self.assertEqual(program.ask(f'{command} 10.0.0.9', '10'), '10.0.0.9: yes')
            self.assertEqual(program.ask(f'{command} 127.0.0.1', '127'), '127.0.0.1: yes')
        self.assertEqual(network.sent_packets(), sent)
        self.end(program)

    def test_G041_host_on_the_link_is_reachable_without_a_default_route(self):
        program = self.start()
        lab.ip('route', 'del', 'default')
        program.wait('network-changed.no.')
        self.assertEqual(program.ask('can-reach 10.0.0.9', '10'), '10.0.0.9: yes')
        answer = program.ask('can-reach 198.51.100.7', '198')
        self.assertRegex(answer, f'^198.51.100.7: no g-io-error-quark {NETWORK_UNREACHABLE}: .*v0')
        self.end(program)

    def test_G042_route_that_refuses_is_a_host_that_is_unreachable(self):
        program = self.start()
        lab.ip('route', 'add', 'prohibit', '198.51.100.0/24')
        for command in ('can-reach', 'can-reach-async'):
            answer = program.ask(f'{command} 198.51.100.7', '198')
            self.assertRegex(answer, f'^198.51.100.7: no g-io-error-quark {HOST_UNREACHABLE}: .')
        self.end(program)

    def test_G043_pulled_cable_is_named_and_no_name_server_is_asked(self):
        program = self.start()
        network.pull_cable()
        program.wait('network-changed.no.')
        sent = network.sent_packets()
        self.assertRegex(program.ask('can-reach example.org', 'ex'), f'no g-io-error-quark {NETWORK_UNREACHABLE}: v0: no carrier')
        self.assertRegex(program.ask('can-reach 10.0.0.1', '10'), f'no g-io-error-quark {NETWORK_UNREACHABLE}: v0: no carrier')
        self.assertEqual(program.ask('can-reach localhost', 'lo'), 'localhost: yes')
        self.assertEqual(network.sent_packets(), sent)
        self.end(program)

    def test_G044_name_that_cannot_be_looked_up_is_the_error_of_the_lookup(self):
        program = self.start()
        for command in ('can-reach', 'can-reach-async'):
            self.assertRegex(program.ask(f'{command} no-such-name.invalid', 'no-'), 'no g-resolver-error-quark')
        self.end(program)

    def test_G045_cancelled_question(self):
        program = self.start()
        self.assertRegex(program.ask('can-reach-cancel 198.51.100.7', '198'), f'no g-io-error-quark {CANCELLED}:')
        # The service stands still, and the question has been sent to it.
        self.service.freeze()
        self.assertRegex(program.ask('can-reach-cancel 198.51.100.7', '198'), f'no g-io-error-quark {CANCELLED}:')
        self.assertRegex(program.ask('can-reach-cancel-later 198.51.100.7', '198'), f'no g-io-error-quark {CANCELLED}:')
        self.service.thaw()
        self.end(program)

    def test_G046_unix_socket_is_answered_as_by_glib(self):
        program = self.start()
        own = self.program(None)
        self.assertEqual(own.ask('can-reach-path /x', '/x'), program.ask('can-reach-path /x', '/x'))
        self.end(program)
        self.end(own)

    def test_G047_address_of_one_link(self):
        program = self.start()
        network.allow_ipv6()
        network.add_second_link()
        self.assertEqual(program.ask('can-reach fe80::1%v0', 'fe80'), 'fe80::1%v0: yes')
        network.pull_cable()
        program.wait('network-changed.no.')
        self.assertRegex(program.ask('can-reach fe80::1%v0', 'fe80'), f'no g-io-error-quark {NETWORK_UNREACHABLE}')
        self.assertEqual(program.ask('can-reach fe80::1%w0', 'fe80'), 'fe80::1%w0: yes')
        self.end(program)

    def test_G048_many_questions(self):
        # Which GLib's own monitor, asked when no descriptor is left, would say yes to.
        lab.ip('route', 'add', 'prohibit', '198.51.100.0/24')
        program = self.start(before=['prlimit', '--nofile=100'])
        for _ in range(20):
            for _ in range(20):
                program.say('can-reach-async 198.51.100.7')
            for _ in range(20):
                self.assertRegex(program.wait('198'), f'^198.51.100.7: no g-io-error-quark {HOST_UNREACHABLE}: ')
        self.end(program)

    def test_G049_more_questions_at_once_than_there_are_descriptors(self):
        program = self.start(before=['prlimit', '--nofile=100'])
        for _ in range(300):
            program.say('can-reach-async 198.51.100.7')
        for _ in range(300):
            self.assertEqual(program.wait('198'), '198.51.100.7: yes')
        network.pull_cable()
        program.wait(f'network-changed.no. {OFFLINE}')
        self.end(program)


class ServiceTests(Case):
    def test_G060_service_that_stands_still_does_not_hold_a_program_up(self):
        self.service.start()
        self.service.freeze()
        program = self.program(self.service)
        self.assertRegex(program.type, GLIBS_OWN)
        self.end(program)
        self.service.thaw()

    def test_G061_restart_is_no_change(self):
        program = self.start()
        # The path is not the first of this service any more.
        lab.ip('addr', 'add', '10.0.0.3/24', 'dev', 'v0')
        lab.ip('route', 'replace', 'default', 'via', '10.0.0.1', 'src', '10.0.0.3')
        program.wait(f'network-changed.yes. {ONLINE}')
        heard = len(program.lines)
        self.service.stop()
        self.service.start()
        self.service.wait_for_client()
        turns = len(self.states(program))
        # The first change behind the restart is the first that the program hears of.
        lab.ip('route', 'del', 'default')
        program.wait('network-changed')
        self.assertEqual(program.lines[heard:heard + turns + 1], [f'state {ONLINE}'] * turns + [f'notify::network-available {OFFLINE}'])
        self.end(program)

    def test_G062_change_during_a_restart_is_noticed(self):
        program = self.start()
        self.service.stop(signal.SIGKILL)
        network.pull_cable()
        self.assertEqual(program.ask('state', 'state '), f'state {ONLINE}')
        self.service.start()
        program.wait(f'network-changed.no. {OFFLINE}')
        self.end(program)

    def test_G063_while_the_service_is_away_for_long_glib_speaks(self):
        program = self.start()
        self.service.stop()
        self.assertEqual(program.ask('can-reach 198.51.100.7', '198'), '198.51.100.7: yes')
        lab.ip('route', 'del', 'default')
        # Noticed by GLib's own monitor when the last word of the service has counted long enough.
        program.wait(f'network-changed.no. {OFFLINE}')
        lab.ip('route', 'add', 'default', 'via', '10.0.0.1')
        program.wait(f'network-changed.yes. {ONLINE}')
        network.pull_cable()
        # Which only the service sees.
        self.assertEqual(program.ask('state', 'state '), f'state {ONLINE}')
        self.service.start()
        program.wait(f'network-changed.no. {OFFLINE}')
        # GLib's own monitor would say that there is a network again.
        lab.ip('route', 'del', 'default')
        lab.ip('route', 'add', 'default', 'via', '10.0.0.1')
        self.assertEqual(set(self.states(program)), {f'state {OFFLINE}'})
        network.put_cable_back()
        program.wait(f'network-changed.yes. {ONLINE}')
        self.end(program)

    def test_G064_metered_stays_while_the_service_is_away(self):
        self.service.command += ['--monitor-metered', 'v0=yes']
        program = self.start()
        self.assertIn('metered=yes', program.state)
        self.assertFalse(program.has_netlink())
        self.service.stop()
        # GLib's own monitor is asked in a while.
        while not program.has_netlink():
            time.sleep(0.05)
        self.assertEqual(set(self.states(program)), {program.state})
        lab.ip('route', 'del', 'default')
        program.wait(f'network-changed.no. {OFFLINE}')
        self.end(program)

    def test_G065_what_is_not_the_service_is_not_believed(self):
        for number, answer in enumerate((b'', b'\0', b'garbage\0', b'{}\0', b'[' * 100_000, b'x' * 5_000_000, b'{"parameters":{}}\0',
                       b'{"parameters":{"status":"wired","online":1,"links":7,"schema":"x"},"continues":"yes"}\0',
                       b'{"error":"org.varlink.service.MethodNotFound","parameters":{}}\0')):
            with self.subTest(answer=answer[:40]), socket.socket(socket.AF_UNIX) as listener:
                path = os.path.join(self.folder, f'hostile-{number}')
                listener.bind(path)
                listener.listen()

                def serve():
                    try:
                        while True:
                            connection, _ = listener.accept()
                            with connection:
                                connection.recv(4096)
                                connection.sendall(answer)
                    except OSError:
                        pass
                threading.Thread(target=serve, daemon=True).start()
                self.service.socket = path
                program = self.program(self.service)
                program.ask('state', 'state ')
                self.end(program)
                listener.shutdown(socket.SHUT_RDWR)

    def test_G066_socket_that_the_user_may_not_use(self):
        with open('/proc/self/uid_map') as file:
            if file.read().split()[2] == '1':
                self.skipTest('needs root, to become another user')
        self.service.start()
        os.chmod(self.folder, 0o700)
        program = self.program(self.service, before=['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'])
        self.assertRegex(program.type, GLIBS_OWN)
        self.end(program)

    def test_G067_storm_of_routes_does_not_make_it_deaf(self):
        program = self.start()
        program.process.send_signal(signal.SIGSTOP)
        lab.storm()
        program.process.send_signal(signal.SIGCONT)
        lab.ip('route', 'del', 'default')
        program.wait(f'network-changed.no. {OFFLINE}')
        self.end(program)


class ProbeTableTests(Case):
    """The rows of docs/comparison.md; the column of GLib's own monitor is measured by tests/probes."""

    def test_G080_ten_probes_are_right(self):
        loader = SourceFileLoader('probes', os.path.join(lab.HERE, 'probes'))
        probes = module_from_spec(spec_from_loader('probes', loader))
        loader.exec_module(probes)
        self.assertEqual(len(probes.PROBES), 10)
        for title, probe, right in probes.PROBES:
            with self.subTest(title):
                self.assertEqual(probes.tried(self.service, probes.MODULE, probe, right, network), right)


class MemoryTests(Case):
    """Everything that the module does, under a checker of memory."""

    def session(self, **options):
        program = self.start(**options)
        self.assertEqual(program.type, 'ReachNetworkMonitor')
        for command in ('can-reach', 'can-reach-async', 'can-reach-cancel', 'can-reach-cancel-later'):
            program.ask(f'{command} 198.51.100.7', '198')
            program.ask(f'{command} no-such-name.invalid', 'no-')
        lab.ip('route', 'del', 'default')
        program.wait(f'network-changed.no. {OFFLINE}')
        program.ask('can-reach 198.51.100.7', '198')
        program.ask('can-reach example.org', 'ex')
        self.service.stop(signal.SIGKILL)
        program.ask('can-reach 10.0.0.9', '10')
        lab.ip('route', 'add', 'default', 'via', '10.0.0.1')
        program.wait(f'network-changed.yes. {ONLINE}')
        network.pull_cable()
        self.service.start()
        program.wait(f'network-changed.no. {OFFLINE}')
        program.ask('can-reach example.org', 'ex')
        return program

    def test_G070_valgrind_finds_nothing(self):
        if not shutil.which('valgrind'):
            self.skipTest('valgrind is not installed')
        log = os.path.join(self.folder, 'valgrind')
        program = self.session(
            before=['valgrind', '--error-exitcode=9', '--leak-check=full', '--errors-for-leak-kinds=definite', f'--log-file={log}'],
            G_SLICE='always-malloc')
        code = program.close()
        with open(log) as file:
            self.assertEqual(code, 0, file.read())

    def test_G071_address_sanitizer_finds_nothing(self):
        library = subprocess.run(['gcc', '-print-file-name=libasan.so'], capture_output=True, text=True).stdout.strip()
        preloaded = os.path.realpath(library)
        if not os.path.isfile(preloaded):
            self.skipTest('libasan is not installed')
        program = self.session(
            before=['env', f'LD_PRELOAD={preloaded}'], module='sanitized/modules',
            ASAN_OPTIONS='detect_leaks=1:exitcode=9')
        code = program.close()
        self.assertEqual(code, 0, program.errors)
        self.assertEqual(program.errors, [])

    def test_G072_failed_starts_leave_nothing_behind(self):
        if not shutil.which('valgrind'):
            self.skipTest('valgrind is not installed')
        log = os.path.join(self.folder, 'valgrind')
        self.service.start()
        self.service.freeze()
        for service in (None, self.service):
            program = self.program(
                service, before=['valgrind', '--error-exitcode=9', '--leak-check=full', '--errors-for-leak-kinds=definite',
                                 f'--log-file={log}'])
            self.assertRegex(program.type, GLIBS_OWN)
            code = program.close()
            with open(log) as file:
                self.assertEqual(code, 0, file.read())
        self.service.thaw()


if __name__ == '__main__':
    lab.enter()
    network = lab.Network()
    try:
        unittest.main(verbosity=2)
    finally:
        network.close()
