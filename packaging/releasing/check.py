# SPDX-License-Identifier: Apache-2.0
"""Checks a folder of a release: its files by themselves, then, in clean systems, what they do when they are installed."""
import lzma
import os
import pathlib
import re
import tarfile
import tempfile

from . import Refused, archive, commands, making, sbom, vendored
from .elf import Program

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = re.compile(r"reach-(\d+\.\d+\.\d+)\.tar\.xz")
LIST = re.compile(r"reach-(\d+\.\d+\.\d+)-linux-(\w+)\.cdx\.json")
# The files of the sources without which nothing can be built from them.
EXPECTED = ("Package.swift", "LICENSE", "README.md", "packaging/release", "packaging/device/flags", "packaging/debian/build")


def release_version(folder):
    found = [SOURCES.fullmatch(path.name) for path in folder.iterdir()]
    versions = [match[1] for match in found if match]
    if len(versions) != 1:
        raise Refused(f"{folder} has {len(versions)} archives of sources (reach-VERSION.tar.xz), and a release has one")
    return versions[0]


def read(path, function, *arguments):
    """What a function finds, which reads files; one that cannot be read is a problem too."""
    try:
        return list(function(*arguments))
    except (lzma.LZMAError, tarfile.TarError, EOFError, LookupError, ValueError, TypeError, AttributeError, Refused) as error:
        return [f"{path.name} cannot be read: {type(error).__name__}: {error}"]


def wrong_sources(path, version, packages):
    """What is wrong with the sources; the packages that they have inside are added to `packages`."""
    found, members = [], archive.tar_members(path.read_bytes())
    top = f"reach-{version}"
    for name in members:
        if pathlib.PurePosixPath(name).parts[0] != top or ".." in pathlib.PurePosixPath(name).parts:
            found.append(f"{path.name}: {name} is outside of {top}/")
    text = {name: members[f"{top}/{name}"][1].decode() for name in (*EXPECTED, "packaging/releasing/packages") if f"{top}/{name}" in members}
    found += [f"{path.name}: {name} is missing" for name in EXPECTED if name not in text]
    packages += vendored.listed(text.get("packaging/releasing/packages", ""))
    inside = set(vendored.ON_DISK.findall(text.get("Package.swift", "")))
    for package in packages:
        if package.name not in inside or f"{top}/{vendored.FOLDER}/{package.name}/Package.swift" not in members:
            found.append(f"{path.name}: {package.name} is not inside")
    for name in sorted(inside - {package.name for package in packages}):
        found.append(f"{path.name}: {name} is in Package.swift and not in packaging/releasing/packages")
    for name in vendored.wanted(text.get("Package.swift", "")):
        found.append(f"{path.name}: Package.swift has {name} fetched from a server")
    return found


def field(control, name):
    return re.search(rf"^{name}: (.*)$", control, re.MULTILINE)[1]


def wrong_package(package, version):
    """Whether a Debian package is what its name says."""
    control = archive.deb_members(package.read_bytes())[0]["control"][1].decode()
    name = f"{field(control, 'Package')}_{field(control, 'Version')}_{field(control, 'Architecture')}.deb"
    if name != package.name:
        yield f"{package.name} is {name} inside"
    if field(control, "Version") != version:
        yield f"{package.name} is of version {field(control, 'Version')}, the release of {version}"


def wrong_program(folder, version, architecture, packages):
    """What package, archive and list of one architecture disagree about."""
    package, bom = folder / f"reach_{version}_{architecture}.deb", folder / f"reach-{version}-linux-{architecture}.cdx.json"
    packed = folder / f"reach-{version}-linux-{architecture}.tar.xz"
    for path in (package, packed, bom):
        if not path.is_file():
            yield f"{path.name} is missing"
            return
    program = archive.deb_members(package.read_bytes())[1].get(making.PROGRAM, (None, b""))[1]
    top, members = f"reach-{version}-linux-{architecture}", archive.tar_members(packed.read_bytes())
    if members.get(f"{top}/{making.PROGRAM}", (None, None))[1] != program:
        yield f"{packed.name} and {package.name} have different programs"
    for name in ("install.sh", "usr/share/doc/reach/LICENSE", "usr/share/doc/reach/NOTICE", "usr/share/doc/reach/copyright"):
        if f"{top}/{name}" not in members:
            yield f"{packed.name}: {name} is missing"
    debug = folder / f"{top}-debug.tar.xz"
    if debug.is_file() and f"{top}-debug/{making.symbol_file(Program(program).build_id())}" not in archive.tar_members(debug.read_bytes()):
        yield f"{debug.name} is not of the program in {package.name}"
    for problem in sbom.incomplete(bom.read_text(encoding="utf-8"), program, version=version, packages=packages):
        yield f"{bom.name}: {problem}"


def files(folder):
    """The problems of the files, as sentences, and what is left to be tried out: version and architectures."""
    if not folder.is_dir():
        raise Refused(f"{folder} is no folder")
    found = list(archive.wrong_sums(folder))
    if found:
        # What is damaged is not looked into.
        return found, None, []
    version = release_version(folder)
    sources, packages = folder / f"reach-{version}.tar.xz", []
    found += read(sources, wrong_sources, sources, version, packages)
    notes = folder / making.NOTES
    if not notes.is_file() or not notes.read_text(encoding="utf-8").startswith(f"# Reach {version}\n"):
        found.append(f"{making.NOTES} is missing, or of another version")
    architectures = sorted(match[2] for match in map(LIST.fullmatch, (path.name for path in folder.iterdir())) if match)
    if not architectures:
        found.append("there is no list of what a program is made of (reach-VERSION-linux-ARCHITECTURE.cdx.json)")
    for architecture in architectures:
        found += read(folder / f"reach_{version}_{architecture}.deb", wrong_program, folder, version, architecture, packages)
    for package in sorted(folder.glob("*.deb")):
        found += read(package, wrong_package, package, version)
        if package.name.removesuffix(".deb").rpartition("_")[2] not in architectures:
            found.append(f"{package.name}: there is no list of what the program of its architecture is made of")
    return found, version, architectures


def tried(command, what, say):
    """Runs a script that tries something out; its last lines, where it fails."""
    say(what)
    try:
        output, _ = commands.run(*command, why=f"{what} fails")
    except Refused as reason:
        return [str(reason)]
    for line in output.splitlines():
        say(line)
    return []


def built(folder, version, say):
    """Builds the sources without a network, and asks the program for its version."""
    say("the sources are built, without a network")
    with tempfile.TemporaryDirectory(prefix="reach-release.", dir=commands.temporary()) as work:
        work = pathlib.Path(work)
        try:
            commands.run("tar", "-xf", folder / f"reach-{version}.tar.xz", "-C", work, why="the sources cannot be unpacked")
            program = making.build(work / f"reach-{version}", commands.clean_environment(work, 0))
            said = commands.run(program, "--version", why="the program that was built does not run")[0].strip()
        except Refused as reason:
            return [str(reason)]
    return [] if said == version else [f"the program that was built is of version {said}"]


def problems(options, say):
    """All problems of a folder, as sentences."""
    folder = pathlib.Path(options.check).resolve()
    found, version, architectures = files(folder)
    suites = [] if options.suites == "none" else [suite for suite in options.suites.split(",") if suite]
    if found:
        return found
    say(f"{version} for {', '.join(architectures)}: sums, sources and lists are right")
    if options.build:
        found += built(folder, version, say)
    if (suites or options.boot) and commands.HOST not in architectures:
        raise Refused(f"nothing in {folder} is for this machine ({commands.HOST}): check it on another one, or with --suites none")
    if (suites or options.boot) and os.geteuid() != 0:
        raise Refused("installing in clean systems needs root; --suites none looks at the files alone")
    for suite in suites:
        found += tried([HERE / "smoke", suite, folder, version, commands.HOST], f"installed, used and removed in {suite}", say)
    if options.boot:
        found += tried([HERE.parent / "debian/boot", folder / f"reach_{version}_{commands.HOST}.deb"], "installed in a bookworm that is booted", say)
    for other in set(architectures) - {commands.HOST}:
        say(f"not tried on this machine: what is for {other}")
    return found
