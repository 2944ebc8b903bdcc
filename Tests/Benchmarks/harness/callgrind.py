# SPDX-License-Identifier: Apache-2.0
"""Counts user-space instructions with valgrind, which no other work on the machine can change."""
import contextlib
import os
import re
import subprocess

from .process import ProcessFailed, Scratch


def stripped(program):
    """A copy without debug information: valgrind reads that, and fails on Swift's. A program with a dynamic Swift runtime fails too."""
    copy = Scratch.file()
    subprocess.run(['strip', '-o', copy, program], check=True)
    return copy


def executed(run):
    """The instructions of what `run` starts when it is given the words that have to be before its command."""
    profile = Scratch.file()
    try:
        run(['valgrind', '--tool=callgrind', f'--callgrind-out-file={profile}'])
        found = re.search(r'^(?:totals|summary): (\d+)', open(profile).read(), re.MULTILINE) if os.path.exists(profile) else None
        if not found:
            raise ProcessFailed('valgrind could not run it')
        return int(found[1])
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(profile)
