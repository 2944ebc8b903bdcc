# SPDX-License-Identifier: Apache-2.0
"""Archives whose bytes follow from their contents, and the contents of archives."""
import gzip
import hashlib
import io
import lzma
import os
import tarfile

from . import Refused

SUMS = "SHA256SUMS"
BEST = 9 | lzma.PRESET_EXTREME
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": BEST}]
# For machine code of amd64, an eighth smaller: addresses are made absolute first. To unpack it takes 9 MB of memory.
AMD64 = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": BEST, "dict_size": 8 << 20}]


def pack(folder, target, name, epoch, filters=None):
    """A .tar.xz of the folder's contents below `name`: sorted, owned by root, with modes 644 and 755 and one time for all."""
    members = [(name, folder)]
    for at, folders, files in os.walk(folder):
        inside = os.path.relpath(at, folder)
        for each in folders + files:
            members.append((os.path.normpath(os.path.join(name, inside, each)), os.path.join(at, each)))
    # One thread: several would cut the stream into blocks by the number of processors.
    with lzma.open(target, "wb", filters=filters or FILTERS, check=lzma.CHECK_CRC64) as stream, \
            tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for inside, path in sorted(members):
            entry = tar.gettarinfo(path, inside)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime = epoch
            entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            if entry.islnk():
                # A second name of a file is a copy, whatever the file system it was packed on has.
                entry.type, entry.linkname, entry.size = tarfile.REGTYPE, "", os.path.getsize(path)
            if entry.isreg():
                with open(path, "rb") as content:
                    tar.addfile(entry, content)
            else:
                tar.addfile(entry)


def ar_members(data):
    """The members of an ar archive (deb(5)), by name."""
    if data[:8] != b"!<arch>\n":
        raise Refused("this is no Debian package: it does not begin as an ar archive")
    members, offset = {}, 8
    while offset + 60 <= len(data):
        header = data[offset:offset + 60]
        size = int(header[48:58])
        members[header[:16].decode().strip().rstrip("/")] = data[offset + 60:offset + 60 + size]
        offset += 60 + size + size % 2
    return members


def tar_members(data):
    """The members of a tar archive, compressed or not: {name: (TarInfo, content or None)}."""
    if data[:6] == b"\xfd7zXZ\0":
        data = lzma.decompress(data)
    elif data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        return {entry.name.removeprefix("./"): (entry, tar.extractfile(entry).read() if entry.isreg() else None) for entry in tar}


def deb_members(data):
    """The files of a Debian package and of its control archive."""
    found = {"control": {}, "data": {}}
    for name, content in ar_members(data).items():
        part = name.split(".")[0]
        if part in found:
            found[part] = tar_members(content)
    return found["control"], found["data"]


def squeeze(package):
    """Compresses the files of a Debian package for amd64 anew. dpkg reads every filter of xz, and dpkg-deb writes none."""
    members = ar_members(package.read_bytes())
    time = package.read_bytes()[24:36]
    if list(members) != ["debian-binary", "control.tar.xz", "data.tar.xz"]:
        raise Refused(f"{package.name} has {', '.join(members)} inside, where debian-binary, control.tar.xz and data.tar.xz are expected")
    smaller = lzma.compress(lzma.decompress(members["data.tar.xz"]), check=lzma.CHECK_CRC64, filters=AMD64)
    members["data.tar.xz"] = min(members["data.tar.xz"], smaller, key=len)
    with package.open("wb") as file:
        file.write(b"!<arch>\n")
        for name, content in members.items():
            file.write(b"%-16s%s%-6d%-6d%-8s%-10d`\n" % (name.encode(), time, 0, 0, b"100644", len(content)))
            file.write(content + b"\n" * (len(content) % 2))


def sum_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_sums(folder):
    """The list that `sha256sum --check` reads, of all files of a folder."""
    names = sorted(path.name for path in folder.iterdir() if path.name != SUMS)
    (folder / SUMS).write_text("".join(f"{sum_of(folder / name)}  {name}\n" for name in names), encoding="utf-8")


def wrong_sums(folder):
    """What a folder's list and its files disagree about, as sentences."""
    if not (folder / SUMS).is_file():
        yield f"{SUMS} is missing: this is no folder of a release"
        return
    listed = {}
    for line in (folder / SUMS).read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        listed[name] = digest
    there = {path.name for path in folder.iterdir()} - {SUMS}
    for name in sorted(there - listed.keys()):
        yield f"{name} is not in {SUMS}"
    for name, digest in sorted(listed.items()):
        if name not in there:
            yield f"{name} is in {SUMS} and missing in the folder"
        elif sum_of(folder / name) != digest:
            yield f"{name} is damaged or was changed: its sum is not that of {SUMS}"
