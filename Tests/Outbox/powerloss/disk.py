# SPDX-License-Identifier: Apache-2.0
"""What a disk may have after a loss of power, by the records of `recorder.c`.

What was synced is there. Of what was written since, nothing may have arrived, or all, or the first of it with the last write torn, or any
pieces of 512 or 4096 bytes in any order. Of the names that were made, moved and removed since their folder was synced, the first may have
arrived, as with a journal of the file system, or any. A rename arrives wholly or not at all. To be sure of a name, a program has to sync
its folder; to sync the file is not enough. A mapped file may have anything that was ever in its pages.
"""
import os
import shutil
import struct
import subprocess
import uuid

FOLDER = os.path.dirname(os.path.abspath(__file__))
HEAD = struct.Struct("=QQQ")
RECORD = struct.Struct("=c7xQQQQQ")


class MissedChange(Exception):
    """The folder differs from the records: a program has changed it in a way that the recorder does not see."""


class File:
    """A content: what was on the disk, and what was done to it since."""

    def __init__(self, content=b""):
        self.content = content
        self.changes = []       # (record's offset, kind, offset, bytes)
        self.synced = 0         # how many of the changes are on the disk
        self.is_mapped = False

    def sync(self, before):
        while self.synced < len(self.changes) and self.changes[self.synced][0] < before:
            self.synced += 1

    @staticmethod
    def apply(content, kind, offset, data):
        if kind == b"w":
            if len(content) < offset:
                content.extend(bytes(offset - len(content)))
            content[offset:offset + len(data)] = data
        elif kind == b"t":
            del content[offset:]
            content.extend(bytes(offset - len(content)))
        else:
            content.extend(bytes(max(offset - len(content), 0)))

    def now(self):
        """As programs see it."""
        content = bytearray(self.content)
        for change in self.changes:
            self.apply(content, *change[1:])
        return content

    def after_loss(self, random):
        content = bytearray(self.content)
        for change in self.changes[:self.synced]:
            self.apply(content, *change[1:])
        rest = self.changes[self.synced:]
        way, size = random.choice(["none", "all", "first", "pieces"]), random.choice([512, 4096])
        if way == "none":
            return content
        count = random.randrange(len(rest) + 1) if way == "first" else len(rest)
        chance = random.choice([0.1, 0.5, 0.9]) if way == "pieces" else 1
        for _, kind, offset, data in rest[:count]:
            for piece in self.pieces(kind, offset, data, size):
                if random.random() < chance:
                    self.apply(content, *piece)
        if way == "first" and count < len(rest):
            torn = list(self.pieces(*rest[count][1:], size))
            for piece in torn[:random.randrange(len(torn))]:
                self.apply(content, *piece)
        return content

    @staticmethod
    def pieces(kind, offset, data, size):
        """Sectors or pages are written wholly or not at all, and the bytes beside a write stay as they are."""
        if kind != b"w":
            yield kind, offset, data
            return
        start = offset
        while start < offset + len(data):
            end = min((start // size + 1) * size, offset + len(data))
            yield kind, start, data[start - offset:end - offset]
            start = end


class Folder(File):
    """Its names are those that `Disk` has for it."""


class Disk:
    def __init__(self, path, journal, recorder):
        self.path, self.journal, self.recorder, self.boot = os.path.realpath(path), journal, recorder, f"{journal}.boot"
        self.losses = self.dropped = self.interrupted = 0
        self.start()
        self.begin()

    def __str__(self):
        return f"{self.losses} losses of power, {self.dropped} unsynced changes, {self.interrupted} kills within a change"

    @staticmethod
    def build(target):
        """Compiles the recorder."""
        subprocess.run(
            ["cc", "-std=gnu11", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", target, os.path.join(FOLDER, "recorder.c"), "-ldl"], check=True)

    def environment(self, ignores=None, last_sync=None):
        """Of a process whose changes are recorded, and that is killed before its sync of this number."""
        return {
            **({"REACH_POWERLOSS_KILL": str(last_sync)} if last_sync else {}),
            "LD_PRELOAD": self.recorder, "REACH_POWERLOSS_FOLDER": self.path, "REACH_POWERLOSS_JOURNAL": self.journal,
            "REACH_POWERLOSS_BOOT": self.boot,
            **({"REACH_POWERLOSS_IGNORE": ignores} if ignores else {})}

    def start(self):
        """The machine starts: its programs see another boot."""
        with open(self.boot, "w") as file:
            file.write(f"{uuid.uuid4()}\n")

    def begin(self):
        """All that is in the folder is on the disk."""
        self.files = {}         # by inode number
        self.names = []         # changes of names: [record's offset, ((folder, name, file or None), …), whether it is on the disk]
        self.base = {}          # files by folder and name
        self.position = HEAD.size
        with open(self.journal, "wb") as journal:
            journal.write(HEAD.pack(HEAD.size, 0, 0))
        self.root = self.files[os.stat(self.path).st_ino] = Folder()
        for above, folders, names in os.walk(self.path):
            folder = self.files[os.stat(above).st_ino]
            for name in folders:
                self.base[folder, name] = self.files[os.lstat(os.path.join(above, name)).st_ino] = Folder()
            for name in names:
                path = os.path.join(above, name)
                with open(path, "rb") as file:
                    self.base[folder, name] = self.files[os.lstat(path).st_ino] = File(file.read())

    def head(self):
        """The end of the records, whether a process was killed in a change, and whether others went on then."""
        with open(self.journal, "rb") as journal:
            return HEAD.unpack(journal.read(HEAD.size))

    def read(self):
        """Takes in the records since the last time; no program may be running."""
        end = self.head()[0]
        with open(self.journal, "rb") as journal:
            while self.position < end:
                journal.seek(self.position)
                kind, file, folder, other, offset, size = RECORD.unpack(journal.read(RECORD.size))
                self.take(kind, file, folder, other, offset, journal.read(size))
                self.position += RECORD.size + size

    def take(self, kind, number, folder, other, offset, data):
        if kind == b"!":
            raise MissedChange("a rename out of the folder, into it, or of a kind that the recorder does not know")
        if kind in b"cd":
            # The number may have been that of a file that is gone.
            self.files[number] = File() if kind == b"c" else Folder()
        file = self.files.get(number)
        if file is None:
            raise MissedChange(f"record {kind.decode()} at {self.position} has a file without a beginning")
        if kind in b"cdl" and folder:
            self.rename((self.files[folder], data.decode(), file))
        elif kind == b"u":
            self.rename((self.files[folder], data.decode(), None))
        elif kind == b"r":
            old, new = data.decode().split("\0")
            self.rename((self.files[folder], old, None), (self.files[other], new, file))
        elif kind in b"wta":
            file.changes.append((self.position, kind, offset, data))
        elif kind == b"m":
            file.is_mapped = True
        elif kind == b"S":
            file.sync(offset)
            if isinstance(file, Folder):
                for change in self.names:
                    if change[0] < offset and any(place[0] is file for place in change[1]):
                        change[2] = True

    def rename(self, *places):
        self.names.append([self.position, places, False])

    def tree(self, is_there):
        """Files by folder and name, with those changes of names that `is_there` chooses."""
        found = dict(self.base)
        for change in self.names:
            if is_there(change):
                for folder, name, file in change[1]:
                    found[folder, name] = file
        return {place: file for place, file in found.items() if file is not None}

    def paths(self, tree, folder, above):
        """(path, file) for all that is in a folder, each folder before what is in it."""
        inside = {name: file for (holder, name), file in tree.items() if holder is folder}
        for name, file in sorted(inside.items(), key=lambda entry: entry[0]):
            path = os.path.join(above, name)
            yield path, file
            if isinstance(file, Folder):
                yield from self.paths(tree, file, path)

    def check(self):
        """Raises `MissedChange` where the folder is not what the records say; no program may be running."""
        if any(self.head()[1:]):
            # A process was killed between a change and its record.
            self.interrupted += 1
            self.begin()
            return
        self.read()
        expected = dict(self.paths(self.tree(lambda _: True), self.root, self.path))
        found = {os.path.join(above, name) for above, folders, names in os.walk(self.path) for name in folders + names}
        if set(expected) != found:
            raise MissedChange(f"there are, or ought to be, {sorted(set(expected) ^ found)}")
        for path, file in expected.items():
            if not isinstance(file, Folder) and not file.is_mapped:
                with open(path, "rb") as actual:
                    if actual.read() != file.now():
                        raise MissedChange(f"{path} has another content")

    def outcome(self, random):
        """What may be there after a loss of power: (path, content) of each file, (path, None) of each folder before what is in it."""
        self.read()
        pending = [change for change in self.names if not change[2]]
        if random.random() < 0.5:
            chosen = pending[:random.randrange(len(pending) + 1)]
        else:
            chance = random.choice([0.1, 0.5, 0.9])
            chosen = [change for change in pending if random.random() < chance]
        arrived = {id(change) for change in chosen}
        contents = []
        for path, file in self.paths(self.tree(lambda change: change[2] or id(change) in arrived), self.root, self.path):
            content = None if isinstance(file, Folder) else file.after_loss(random)
            if content is not None and file.is_mapped and os.path.exists(path) and random.random() < 0.5:
                with open(path, "rb") as pages:
                    content = pages.read()
            contents.append((path, content))
        return contents

    def pending(self):
        """How many changes would not survive for certain."""
        contents = sum(len(file.changes) - file.synced for file in set(self.files.values()) if not isinstance(file, Folder))
        return contents + sum(not change[2] for change in self.names)

    def lose_power(self, random):
        """Has the folder as the disk may have it; no program may be running."""
        if self.head()[2]:
            self.interrupted += 1
            self.begin()
            return
        contents = self.outcome(random)
        self.losses += 1
        self.dropped += self.pending()
        for name in os.listdir(self.path):
            path = os.path.join(self.path, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        for path, content in contents:
            if content is None:
                os.mkdir(path, 0o700)
            else:
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(content)
        self.start()
        self.begin()
