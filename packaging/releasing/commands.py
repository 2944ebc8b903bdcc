# SPDX-License-Identifier: Apache-2.0
"""How a release runs other programs: without the caller's environment, without a network, and ended with it."""
import os
import platform
import signal
import subprocess

from . import Refused

# Debian's name of this machine's architecture.
HOST = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def run(*command, within=None, environment=None, why):
    """What a command says on standard output and on standard error; where it fails, the last lines of both."""
    process = subprocess.Popen([str(word) for word in command], cwd=within, env=environment, text=True, errors="replace", process_group=0,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        output, said = process.communicate()
    except BaseException:
        # A signal ends the programs that the command has started too.
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise
    if process.returncode:
        last = (output[-6000:] + said[-6000:]).strip().splitlines() or ["it says nothing"]
        raise Refused(f"{why}:\n" + "\n".join(last[-25:]))
    return output, said


def offline():
    """What a command begins with that is to run without a network."""
    for words in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        if subprocess.run([*words, "true"], capture_output=True).returncode == 0:
            return words
    raise Refused("no network namespace can be made here, in which the build would have no network: run as root, or permit user namespaces")


# Where a build sees the folder of its release. Paths, and hashes of them, get into debugging information, and so into the build id.
ROOM = "/srv"


def in_room(work, folder):
    """What a command begins with that is to run in `folder`, which is in `work`, without a network and with `work` at ROOM."""
    script = 'mount --bind "$1" "$2"; cd "$3"; shift 3; exec "$@"'
    return [*offline(), "--mount", "sh", "-ec", script, "sh", work, ROOM, in_room_path(work, folder)]


def in_room_path(work, path):
    """The path at which a command in the room sees `path`."""
    return os.path.join(ROOM, os.path.relpath(path, work))


def in_room_environment(work, environment):
    """The environment of such a command: no path of this machine's is in it."""
    return {name: in_room_path(work, value) if value.startswith(f"{work}/") else value for name, value in environment.items()}


def temporary():
    """Where a build lies: 2 GB, too much for a /tmp in memory."""
    return os.path.realpath(os.environ.get("TMPDIR", "/var/tmp"))


def clean_environment(work, epoch):
    """Nothing of the caller's but where programs are, and what git and a Debian package take from the environment."""
    kept = ("PATH", "DEBFULLNAME", "DEBEMAIL")
    for folder in ("home", "tmp"):
        (work / folder).mkdir(exist_ok=True)
    return {name: os.environ[name] for name in kept if name in os.environ} | {
        "HOME": str(work / "home"), "TMPDIR": str(work / "tmp"), "LC_ALL": "C.UTF-8", "TZ": "UTC", "SOURCE_DATE_EPOCH": str(epoch),
        # The tree is no clone, also where a clone is around it.
        "GIT_CEILING_DIRECTORIES": str(work)}
