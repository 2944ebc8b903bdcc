# SPDX-License-Identifier: Apache-2.0
"""Packages from PyPI for peers in Python, in an environment of the benchmark's own."""
import os
import subprocess
import sys

from .programs import BUILT

VERSIONS = {'aiohttp': '3.13.2'}


def interpreter(package, build):
    """The path of a Python that has the package; None without it."""
    folder = os.path.join(BUILT, 'venv')
    python = os.path.join(folder, 'bin', 'python3')
    # Alone: there is a folder `http` here.
    has = lambda: os.path.exists(python) and subprocess.run([python, '-I', '-c', f'import {package}'], capture_output=True).returncode == 0
    if has() or not build:
        return python if has() else None
    print(f'Installing {package} ...', file=sys.stderr)
    for command in ([sys.executable, '-m', 'venv', folder], [python, '-m', 'pip', 'install', '-q', f'{package}=={VERSIONS[package]}']):
        if (result := subprocess.run(command, capture_output=True, text=True)).returncode:
            print(result.stderr[-2000:], f'\n{package} cannot be installed: its rows stay empty.', file=sys.stderr)
            return None
    return python if has() else None
