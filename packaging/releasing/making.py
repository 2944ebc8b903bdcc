# SPDX-License-Identifier: Apache-2.0
"""Makes the files of a release: sources with their packages inside, Debian packages, archives of the program, lists of parts, notes."""
import email.utils
import os
import pathlib
import re
import shutil

from . import Refused, archive, parts, sbom, vendored, version as versions
from .commands import HOST, in_room, in_room_environment, in_room_path, offline, run
from .elf import Program

HERE = pathlib.Path(__file__).resolve().parent
# Where the program of a Debian package and of an archive lies.
PROGRAM = "usr/bin/reach"
NOTES = "RELEASE-NOTES.md"
# Debian's packages that make packages.
NEEDED = ("build-essential", "debhelper", "dpkg-dev", "fakeroot", "libglib2.0-dev", "pkg-config")


def state(root):
    """The commit of a clean clone, and its time."""
    if not (root / ".git").exists():
        raise Refused(f"{root} is no clone: a release is made from one, so that its commit is known")
    changed = run("git", "-C", root, "status", "--porcelain", why="git does not answer")[0].splitlines()
    if changed:
        raise Refused(f"the tree has changes that are not committed ({changed[0][3:]}{', …' if changed[1:] else ''}): commit or stash them, "
                      "or make the release from a fresh clone")
    commit, epoch = run("git", "-C", root, "log", "-1", "--format=%H %ct", why="there is no commit")[0].split()
    return commit, int(epoch)


def ready(root):
    """Refuses where a Debian package cannot be made here: better before the program is built than after."""
    try:
        run("dpkg-checkbuilddeps", root / "packaging/debian/tree/control", why="what a Debian package is made with is missing")
        run("fakeroot", "--version", why="fakeroot does not run")
    except (Refused, FileNotFoundError) as error:
        raise Refused(f"{error}\nas root: apt-get install --no-install-recommends {' '.join(NEEDED)}") from error


def source(root, version, work, packages, epoch):
    """The tree of the sources, with the packages in it."""
    tree = work / f"reach-{version}"
    tree.mkdir()
    packed = work / "head.tar"
    run("git", "-C", root, "archive", "--output", packed, "HEAD", why="git cannot archive the tree")
    run("tar", "-xf", packed, "-C", tree, why="the tree cannot be unpacked")
    packed.unlink()
    vendored.add(tree, packages)
    # Packages that are made of the tree have its time, wherever they are made.
    changes = tree / "packaging/debian/tree/changelog"
    date = email.utils.formatdate(epoch)
    changes.write_text(re.sub(r"^( -- .*>  ).*$", rf"\g<1>{date}", changes.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE),
                       encoding="utf-8")
    return tree


def build(tree, environment):
    """The program, built as for a device and without a network. No path of this machine's gets into it."""
    work = tree.parent
    room, environment = in_room(work, tree), in_room_environment(work, environment)
    flags = run(*room, "packaging/device/flags", "--packaged", "--no-property-lists", environment=environment,
                why="packaging/device/flags fails")[0].splitlines()
    used, seen = tree / ".build/reach.map", in_room_path(work, tree)
    options = ["-c", "release", *flags, "-Xswiftc", "-file-prefix-map", "-Xswiftc", f"{seen}=.", "-Xcc", f"-ffile-prefix-map={seen}=.",
               # The signatures of C modules, which differ from one build to the next.
               "-Xswiftc", "-Xfrontend", "-Xswiftc", "-no-clang-module-breadcrumbs",
               "-Xlinker", f"-Map={in_room_path(work, used)}"]
    run(*room, "swift", "build", *options, "--product", "reach", environment=environment, why="swift build fails")
    unknown = sorted(set(re.findall(r"/([\w+.-]+\.a)\(", used.read_text(encoding="utf-8", errors="replace"))) - parts.archives())
    if unknown:
        raise Refused(f"the program has parts of {', '.join(unknown)} inside, which packaging/releasing/parts.py does not list: add them")
    folder, _ = run(*room, "swift", "build", *options, "--show-bin-path", environment=environment, why="swift build fails")
    folder = folder.strip()
    run(*room, "packaging/device/left-out", "--check", folder, "reach", environment=environment, why="the program uses what is left out of it")
    return work / os.path.relpath(folder, in_room_path(work, work)) / "reach"


def swift_version(text):
    found = re.search(r"Swift version (\d+(?:\.\d+)+)", text)
    if not found:
        raise Refused(f"the version of the Swift compiler is not known: {text.strip()[:200]!r}")
    return found[1]


def symbols(program, version, architecture, output, work, epoch):
    """The names and lines of a program's functions, for the debugger that reads a crash of the stripped one; it looks by build id."""
    read = Program(program.read_bytes())
    identity = read.build_id()
    if not identity or ".debug_info" not in read.sections:
        return
    folder, name = work / f"symbols-{architecture}", f"reach-{version}-linux-{architecture}-debug"
    target = folder / symbol_file(identity)
    target.parent.mkdir(parents=True)
    if architecture == HOST:
        run("objcopy", "--only-keep-debug", program, target, why="objcopy cannot separate the debugging information")
    else:
        # Separated by packaging/cross, since the objcopy of this machine may not know the architecture.
        shutil.copyfile(program, target)
    archive.pack(folder, output / f"{name}.tar.xz", name, epoch)


def symbol_file(identity):
    return f"usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug"


def native(tree, output, work, environment, options):
    """The packages for this machine's architecture: the one of the program, and the version of Swift's runtime in it."""
    if options.program:
        program = pathlib.Path(options.program).resolve()
    else:
        program = build(tree, environment)
    symbols(program, options.version, HOST, output, work, int(environment["SOURCE_DATE_EPOCH"]))
    made = work / "packages"
    made.mkdir()
    run(*offline(), tree / "packaging/debian/build", "--program", program, "--output", made, environment=environment,
        why="packaging/debian/build fails")
    for package in made.glob("*.deb"):
        if package.name.startswith("reach_") and package.name.endswith("_amd64.deb"):
            archive.squeeze(package)
    swift = swift_version("".join(run("swift", "--version", environment=environment, why="swift does not answer")))
    return moved(made, output), swift


def crossed(tree, output, work, environment, options):
    """The packages for arm64, by packaging/cross."""
    made = work / "crossed"
    cache = ["--cache", str(pathlib.Path(options.cache).resolve())] if options.cache else []
    _, said = run(tree / "packaging/cross", "--anew", "--output", made, *cache, environment=environment, why="packaging/cross fails")
    symbols(made / "reach-arm64.debug", options.version, "arm64", output, work, int(environment["SOURCE_DATE_EPOCH"]))
    return moved(made, output), swift_version(said)


def moved(made, output):
    """Brings Debian packages into the output; returns that of the program."""
    names = sorted(package.name for package in made.glob("*.deb"))
    for name in names:
        shutil.move(made / name, output / name)
    return output / next(name for name in names if name.startswith("reach_"))


def packages_for(architecture, tree, output, work, environment, options, say):
    """The package of the program for an architecture, and the version of Swift's runtime in it; none where it cannot be made here."""
    if architecture == HOST:
        return native(tree, output, work, environment, options)
    if architecture == "arm64" and HOST == "amd64" and (tree / "packaging/cross").is_file():
        if os.geteuid() != 0:
            say("arm64 is left out: packaging/cross needs root")
            return None
        return crossed(tree, output, work, environment, options)
    say(f"{architecture} is left out: on {HOST} there is nothing here that builds for it" +
        (" (packaging/cross is missing)" if architecture == "arm64" else ""))
    return None


def program_archive(tree, package, version, architecture, output, work, epoch):
    """The files of a Debian package of the program as an archive for other systems, with licences and a script that installs them."""
    name = f"reach-{version}-linux-{architecture}"
    folder = work / name
    run("dpkg-deb", "--extract", package, folder, why=f"{package.name} cannot be unpacked")
    # Where they are on systems of any age; on Debian 12 a package has them below /lib.
    if (folder / "lib").is_dir():
        shutil.copytree(folder / "lib", folder / "usr/lib", dirs_exist_ok=True)
        shutil.rmtree(folder / "lib")
    shutil.rmtree(folder / "usr/share/lintian", ignore_errors=True)
    documents = folder / "usr/share/doc/reach"
    for copied in ("LICENSE", "CHANGELOG.md"):
        shutil.copy(tree / copied, documents / copied)
    notices(tree, documents / "NOTICE")
    shutil.copy(HERE / "install.sh", folder / "install.sh")
    archive.pack(folder, output / f"{name}.tar.xz", name, epoch, archive.AMD64 if architecture == "amd64" else None)


def notices(tree, target):
    """What the licence of the packages (Apache-2.0, section 4d) wants passed on."""
    found = sorted((tree / vendored.FOLDER).glob("*/NOTICE.txt"))
    target.write_text("".join(f"{path.parent.name}\n{'=' * len(path.parent.name)}\n\n{path.read_text(encoding='utf-8').strip()}\n\n"
                              for path in found), encoding="utf-8")


def write_list(package, version, architecture, output, packages, swift, commit, epoch):
    """The list of what the program in a Debian package is made of."""
    data = archive.deb_members(package.read_bytes())[1][PROGRAM][1]
    bom = sbom.make(data, version=version, epoch=epoch, swift=swift, packages=packages, commit=commit)
    (output / f"reach-{version}-linux-{architecture}.cdx.json").write_text(sbom.text(bom), encoding="utf-8")


def write_notes(root, version, candidate, output, commit):
    text = versions.notes((root / "CHANGELOG.md").read_text(encoding="utf-8"), version, candidate)
    (output / NOTES).write_text(f"# Reach {version}\n\n{text}\nCommit {commit}. {archive.SUMS} has the sums of all files; "
                                "`packaging/release --check` verifies them.\n", encoding="utf-8")
