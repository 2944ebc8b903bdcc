# SPDX-License-Identifier: Apache-2.0
"""Names what differs between two folders of a release: files, then what is in archives, then sections of programs."""
import lzma
import pathlib

from . import Refused, archive
from .elf import NotELF, Program

# What of a differing place is shown.
SHOWN = 60


def first_difference(one, other):
    """Where two contents part, with what is there in each."""
    at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
    begin = max(0, at - SHOWN // 3)
    return f"byte {at}: {one[begin:begin + SHOWN]!r} and {other[begin:begin + SHOWN]!r}"


def texts(one, other):
    """The first line that differs, where both are text."""
    lines = [content.decode("utf-8").splitlines() for content in (one, other)]
    for number, (a, b) in enumerate(zip(*lines), 1):
        if a != b:
            return f"line {number}: {a[:SHOWN]!r} and {b[:SHOWN]!r}"
    return f"{len(lines[0])} and {len(lines[1])} lines"


def programs(name, one, other):
    """The sections of two ELF files that differ; what is outside of sections as one."""
    first, second = Program(one), Program(other)
    if first.sections.keys() != second.sections.keys():
        missing = sorted(first.sections.keys() ^ second.sections.keys())
        yield f"{name}: sections {', '.join(missing)} are in one alone"
    found = False
    for section in first.sections.keys() & second.sections.keys():
        a, b = first.section(section), second.section(section)
        if a != b:
            found = True
            yield f"{name}: section {section}, {len(a)} and {len(b)} bytes, {first_difference(a, b)}"
    if not found:
        yield f"{name}: headers, {first_difference(one, other)}"


def members(name, one, other):
    """What differs between the members of two tar archives."""
    for inside in sorted(one.keys() ^ other.keys()):
        yield f"{name}: {inside} is in one alone"
    for inside in sorted(one.keys() & other.keys()):
        (a, content), (b, other_content) = one[inside], other[inside]
        for field in ("type", "mode", "uid", "gid", "uname", "gname", "mtime", "linkname"):
            if getattr(a, field) != getattr(b, field):
                yield f"{name}: {inside}: {field} {getattr(a, field)!r} and {getattr(b, field)!r}"
        if content != other_content:
            yield from contents(f"{name}: {inside}", content or b"", other_content or b"")


def contents(name, one, other):
    """What differs between two contents, as deep as they can be opened."""
    if one == other:
        return
    found = []
    try:
        if one[:8] == other[:8] == b"!<arch>\n" and name.endswith(".deb"):
            for part, a, b in zip(("control", "data"), archive.deb_members(one), archive.deb_members(other)):
                found += members(f"{name}: {part}", a, b)
        elif name.endswith((".tar.xz", ".tar")):
            found += members(name, archive.tar_members(one), archive.tar_members(other))
        elif one[:4] == other[:4] == b"\x7fELF":
            found += programs(name, one, other)
        elif name.endswith(".gz"):
            found += contents(name.removesuffix(".gz"), *(archive.gzip.decompress(content) for content in (one, other)))
        else:
            found.append(f"{name}: {texts(one, other)}")
    except (NotELF, UnicodeDecodeError, OSError, EOFError, ValueError, Refused, lzma.LZMAError, archive.tarfile.TarError):
        pass
    yield from found or [f"{name}: {first_difference(one, other)}"]


def folders(one, other):
    """What differs between two folders, as sentences."""
    one, other = pathlib.Path(one), pathlib.Path(other)
    for folder in (one, other):
        if not folder.is_dir():
            raise Refused(f"{folder} is no folder")
    names = [{path.name for path in folder.iterdir()} for folder in (one, other)]
    if not names[0] | names[1]:
        raise Refused(f"{one} and {other} are empty: there is nothing to compare")
    found = [f"{name} is in one alone" for name in sorted(names[0] ^ names[1])]
    # The list of sums last: it differs with any other file.
    for name in sorted(names[0] & names[1], key=lambda name: (name == archive.SUMS, name)):
        if name != archive.SUMS or not found:
            found += contents(name, (one / name).read_bytes(), (other / name).read_bytes())
    return found
