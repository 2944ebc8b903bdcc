# SPDX-License-Identifier: Apache-2.0
"""The Swift packages that the program has inside: which Package.swift asks for, and how a source tree has them in itself."""
import pathlib
import re
import shutil
import subprocess
from typing import NamedTuple

from . import Refused

LIST = pathlib.Path(__file__).with_name("packages")
FOLDER = "vendor"
DEPENDENCY = re.compile(r'\.package\(url: "([^"]+/([^"/]+))", from: "([^"]+)"')
ON_DISK = re.compile(rf'\.package\(path: "{FOLDER}/([^"/]+)"')


class Package(NamedTuple):
    name: str
    version: str
    revision: str
    url: str
    licence: str


def listed(text=None):
    """The packages of the list beside this file."""
    lines = (text if text is not None else LIST.read_text(encoding="utf-8")).splitlines()
    return [Package(*line.split(maxsplit=4)) for line in lines if line.strip() and not line.startswith("#")]


def unconditional(manifest, name):
    """Whether a target uses the package without a trait: only then a default build resolves it."""
    return re.search(rf'package: "{re.escape(name)}"\)', manifest) is not None


def wanted(manifest):
    """What a default build resolves, as {name: (version, address)}."""
    return {name: (version, url) for url, name, version in DEPENDENCY.findall(manifest) if unconditional(manifest, name)}


def differing(manifest, packages):
    """Where the list and a manifest disagree, as sentences."""
    asked = wanted(manifest)
    for package in packages:
        if asked.pop(package.name, None) != (package.version, package.url):
            yield f"{package.name} {package.version} of packaging/releasing/packages is not what Package.swift asks for"
    for name, (version, _) in asked.items():
        yield f"{name} {version} of Package.swift is missing in packaging/releasing/packages"


def rewritten(manifest, packages):
    """The manifest with these packages taken from the source tree itself: the package manager asks no server for them."""
    for package in packages:
        manifest, count = re.subn(rf'\.package\(url: "{re.escape(package.url)}", from: "[^"]+"',
                                  f'.package(path: "{FOLDER}/{package.name}"', manifest)
        if count != 1:
            raise Refused(f"Package.swift names {package.name} {count} times; one dependency is expected")
    return manifest


def fetch(package, folder):
    """The package's files at its version. git fetches them; a tag that is another commit than the list's is refused."""
    target = folder / package.name
    command = ["git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--depth", "1", "--branch", package.version,
               package.url, str(target)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Refused(f"{package.name} {package.version} cannot be fetched: {done.stderr.strip()}")
    found = subprocess.run(["git", "-C", target, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    if found != package.revision:
        raise Refused(f"the tag {package.version} of {package.url} is {found}, and packaging/releasing/packages has {package.revision}: "
                      "look at what has changed, then name the new commit there")
    shutil.rmtree(target / ".git")


def add(tree, packages):
    """Puts the packages into a source tree and has its manifest use them."""
    manifest = tree / "Package.swift"
    manifest.write_text(rewritten(manifest.read_text(encoding="utf-8"), packages), encoding="utf-8")
    (tree / FOLDER).mkdir()
    for package in packages:
        fetch(package, tree / FOLDER)
