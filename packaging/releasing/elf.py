# SPDX-License-Identifier: Apache-2.0
"""What an ELF file of 64 bits says of itself: sections, needed libraries, and the libraries that it opens at run time
(https://uapi-group.org/specifications/specs/elf_dlopen_metadata/). Nothing but Python is needed, on any architecture."""
import json
import struct

MACHINES = {62: "amd64", 183: "arm64"}
NEEDED = 1
DLOPEN = (b"FDO\0", 0x407C0C0A)


class NotELF(ValueError):
    pass


class Program:
    def __init__(self, data):
        if data[:6] != b"\x7fELF\x02\x01":
            raise NotELF("this is no ELF file of 64 bits, little-endian")
        self.data = data
        try:
            self.architecture = MACHINES.get(struct.unpack_from("<H", data, 18)[0], "unknown")
            self.sections = self._sections()
        except (struct.error, ValueError, IndexError) as error:
            raise NotELF(f"its section headers are damaged: {error}") from error

    def _sections(self):
        """{name: (type, offset, size, link)}; empty where there are no headers of sections."""
        start = struct.unpack_from("<Q", self.data, 40)[0]
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.data, start + index * size) for index in range(count)] if start else []
        self._order = []
        found = {}
        for header in headers:
            name = self._text(headers[names][4] + header[0])
            self._order.append(name)
            found[name] = (header[1], header[4], header[5], header[6])
        return found

    def _text(self, offset):
        return self.data[offset:self.data.index(b"\0", offset)].decode("utf-8", "replace")

    def section(self, name):
        """The content of a section; empty where there is none, or none in the file."""
        kind, offset, size, _ = self.sections.get(name, (8, 0, 0, 0))
        return b"" if kind == 8 else self.data[offset:offset + size]

    def needed(self):
        """The libraries that the loader loads with the program."""
        link = self.sections.get(".dynamic", (0, 0, 0, 0))[3]
        texts = self.sections[self._order[link]][1] if link else 0
        data = self.section(".dynamic")
        entries = struct.iter_unpack("<QQ", data[:len(data) // 16 * 16])
        return [self._text(texts + value) for tag, value in entries if tag == NEEDED]

    def notes(self, name):
        """The notes of a section, as (owner, type, content)."""
        data, offset = self.section(name), 0
        while offset + 12 <= len(data):
            owner_size, size, kind = struct.unpack_from("<III", data, offset)
            content = offset + 12 + (owner_size + 3) // 4 * 4
            yield data[offset + 12:offset + 12 + owner_size], kind, data[content:content + size]
            offset = content + (size + 3) // 4 * 4

    def opened(self):
        """The libraries that the program opens at run time, with the priority of each."""
        found = {}
        for owner, kind, content in self.notes(".note.dlopen"):
            if (owner, kind) != DLOPEN:
                raise NotELF(f"a note of {owner!r}, type {kind:#x}, in .note.dlopen")
            for each in json.loads(content.rstrip(b"\0")):
                for soname in each["soname"]:
                    found[soname] = each.get("priority", "recommended")
        return found

    def build_id(self):
        """What identifies this build, in hexadecimal digits; empty where the linker wrote none."""
        return "".join(content.hex() for _, _, content in self.notes(".note.gnu.build-id"))
