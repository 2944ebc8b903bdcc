"""Where processes run: the monitor on the first core, the load on the last, both ahead of everything else on the machine."""
import contextlib
import ctypes
import os
import resource
import signal
import subprocess

CORES = sorted(os.sched_getaffinity(0))
MONITOR, LOAD = CORES[0], CORES[-1]
_libc = ctypes.CDLL(None, use_errno=True)
_SET_PARENT_DEATH_SIGNAL = 1
realtime = True


def try_realtime():
    """Whether real-time priority is to be had; tried in a child, so that the harness itself stays as it was."""
    global realtime
    child = os.fork()
    if child == 0:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
            os._exit(0)
        except OSError:
            os._exit(1)
    realtime = os.waitpid(child, 0)[1] == 0
    return realtime


def on(core):
    """For subprocess's preexec_fn: the core, the priority, and an end together with the harness."""
    def prepare():
        _libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
        os.sched_setaffinity(0, {core})
        if realtime:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    return prepare


def ahead(core=None):
    """For subprocess's preexec_fn: ahead of ordinary work where that is allowed, on one core when given, with descriptors
    for thousands of connections, and an end together with the harness."""
    def prepare():
        _libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, 16384) if limit != resource.RLIM_INFINITY else 16384, limit))
        if core is not None:
            os.sched_setaffinity(0, {core})
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, -19)
    return prepare


@contextlib.contextmanager
def awake():
    """Keeps both cores from sleeping, by loops that give way to everything: what a core needs to wake from its sleep is the
    same for every monitor, three times what the reference needs, and would hide the differences."""
    def prepare(core):
        def idle():
            _libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
            os.sched_setaffinity(0, {core})
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        return idle
    loops = [subprocess.Popen(['sh', '-c', 'while :; do :; done'], start_new_session=True, preexec_fn=prepare(core))
             for core in {MONITOR, LOAD}]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
