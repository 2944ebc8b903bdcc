"""Parts 1 and 2: storms of changes that do not matter, and of changes that do."""
import statistics
import time
from dataclasses import dataclass

from harness.process import Process, ProcessFailed, load
from harness.report import number

from .monitors import REFERENCE, WATCH


@dataclass
class Outcome:
    cpu: float       # ms
    wakeups: int
    lost: int
    lines: int       # printed because of the storm
    settled: bool    # at rest, it says what the kernel says
    alert: bool      # and follows one more change
    peak: int        # KiB
    seconds: float   # that the storm took


def agrees(said, truth):
    return bool(said) and all(said[k] == v for k, v in truth.items() if k in said)


def follows(monitor, process, truth, seconds=3):
    """Whether the monitor says so within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if agrees(monitor.state(process.tail()), truth):
            return True
        process.check()
        time.sleep(.01)
    return False


def weather(monitor, namespaces, storm, gateway):
    """One monitor through one storm, after which the default route leads to `gateway`."""
    namespaces.restore()
    with Process(namespaces, monitor.command, monitor.prints_first) as process:
        process.rest()
        cpu, wakeups, lost, lines = process.cpu(), process.wakeups(), process.lost(), process.lines()
        seconds = load(namespaces, *storm)['seconds']
        process.rest()
        cpu, wakeups, lost = process.cpu() - cpu, process.wakeups() - wakeups, process.lost() - lost
        lines = process.lines() - lines
        # ip monitor says nothing at its start: as long as it has not said anything about the default route, it is not wrong.
        settled = follows(monitor, process, {'online': True, 'gateway': gateway}, 1) or not monitor.state(process.tail())
        namespaces.default_route(None)
        alert = follows(monitor, process, {'online': False})
        return Outcome(cpu * 1e3, wakeups, lost, lines, settled, alert, process.memory()['peak'], seconds)


def rounds(monitors, namespaces, storm, gateway, count):
    """Every monitor once a round, so that the ratios of a round compare neighbours in time. Title to outcomes, or to a reason."""
    outcomes = {m.title: [] for m in monitors if m.command}
    for _ in range(count):
        for m in monitors:
            if m.command and isinstance(outcomes[m.title], list):
                try:
                    outcomes[m.title].append(weather(m, namespaces, storm, gateway))
                except ProcessFailed as failure:
                    outcomes[m.title] = str(failure)
    return outcomes


def median(outcomes, name):
    return statistics.median(getattr(o, name) for o in outcomes)


def ratio(outcomes, reference):
    """To the reference of the same round; the median of the rounds."""
    return statistics.median(o.cpu / max(r.cpu, .001) for o, r in zip(outcomes, reference))


HEADER = ['monitor', 'CPU ms', 'ratio', 'wake-ups', 'lost', 'lost %', 'lines', 'state right', 'follows the next change', 'peak KiB']


def rows(monitors, outcomes, messages):
    out = []
    for m in monitors:
        o = outcomes.get(m.title, 'not built')
        if isinstance(o, str):
            out.append([f'{m.title} ({o})'] + [''] * (len(HEADER) - 1))
            continue
        yes = lambda name: 'yes' if all(getattr(x, name) for x in o) else 'no'
        lost = median(o, 'lost')
        reference = outcomes[REFERENCE]
        comparison = ratio(o, reference) if isinstance(reference, list) and len(reference) == len(o) else None
        out.append([m.title, number(median(o, 'cpu')), number(comparison, 2), number(median(o, 'wakeups'), 0), number(lost, 0),
                    number(100 * lost / messages), number(median(o, 'lines'), 0), yes('settled'), yes('alert'),
                    number(median(o, 'peak'), 0)])
    return out


def measured(outcomes, monitor):
    """The outcomes of one of our programs, or None when there are none."""
    found = outcomes.get(monitor.title)
    return found if isinstance(found, list) else None


def worst(found, name):
    return max(getattr(o, name) for o in found) if found else None


def irrelevant(report, monitors, namespaces, scale):
    count = scale.routes
    storm = [scale.program('storm'), 'routes', str(count), 'veth0', namespaces.gateway('veth0')]
    outcomes = rounds(monitors, namespaces, storm, namespaces.gateway('veth0'), scale.rounds)
    report.section('1. A storm that does not matter', f'{count:,} routes added and deleted again, as fast as the kernel takes '
                   f'them: {2 * count:,} messages. Rounds: {scale.rounds}, medians.', HEADER, rows(monitors, outcomes, 2 * count))
    for m in (m for m in monitors if m.ours):
        found = measured(outcomes, m)
        report.bar('1', f'{m.title}: CPU', found and median(found, 'cpu'), 10, 'ms')
        report.bar('1', f'{m.title}: wake-ups, worst round', worst(found, 'wakeups'), 10, digits=0)
        report.bar('1', f'{m.title}: messages lost, worst round', worst(found, 'lost'), 0, digits=0)
        report.claim('1', f'{m.title}: state right, and follows the next change', found and all(o.settled and o.alert for o in found))


def relevant(report, monitors, namespaces, scale):
    a, b = namespaces.gateway('veth0'), namespaces.gateway('veth1')
    replaces, flaps = scale.replaces, scale.flaps
    storms = {
        'default route replaced': (['replace', str(replaces), 'veth0', a, 'veth1', b], b, replaces,
                                   f'{replaces:,} replacements of the default route, by two gateways in turn'),
        'link down and up': (['flap', str(flaps), 'veth0', a], a, 3 * flaps,
                             f'the link of the default route {flaps:,} times down and up, and its default route added again'),
    }
    for name, (arguments, gateway, messages, words) in storms.items():
        outcomes = rounds(monitors, namespaces, [scale.program('storm'), *arguments], gateway, scale.storms)
        report.section(f'2. A storm that matters: {name}', f'As fast as the kernel takes them: {words}. '
                       f'Rounds: {scale.storms}, medians; the ratio is to the C receive loop of the same round, which prints a line '
                       'for every message.', HEADER, rows(monitors, outcomes, messages))
        reference = outcomes[REFERENCE]
        for m in (m for m in monitors if m.ours):
            found = measured(outcomes, m)
            enough = found and isinstance(reference, list)
            report.bar('2', f'{m.title}, {name}: CPU, ratio to the C receive loop', ratio(found, reference) if enough else None, 1.5, digits=2)
            report.claim('2', f'{m.title}, {name}: state right, and follows the next change', found and all(o.settled and o.alert for o in found))
            # One evaluation at once, one every 10 ms while changes keep coming, one last; a loss becomes a status after 500 ms.
            allowed = found and max(o.lines - (2 + o.seconds / (.010 if m.title == WATCH else .250)) for o in found)
            report.bar('2', f'{m.title}, {name}: lines beyond what the timing rules allow', found and max(0, allowed), 0, digits=0)
