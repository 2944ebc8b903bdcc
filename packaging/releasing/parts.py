# SPDX-License-Identifier: Apache-2.0
"""What a program may have inside beside Reach and its Swift packages, and which libraries of the system it uses: names, licences, and
how to tell that a part is there."""
from typing import NamedTuple

SWIFT = "Apache-2.0 WITH Swift-exception"
LIBGCC = "GPL-3.0-or-later WITH GCC-exception-3.1"


class Part(NamedTuple):
    """A part of the toolchain that is linked in."""
    name: str
    archives: tuple
    # Text that the part alone puts into a program, stripped too.
    marker: bytes
    licence: str
    description: str

    @property
    def of_swift(self):
        return self.licence == SWIFT


TOOLCHAIN = [
    Part("libswiftCore", ("libswiftCore.a", "libswiftGlibc.a", "libswiftSwiftOnoneSupport.a"), b"SWIFT_DEBUG_HELP", SWIFT,
         "Swift's runtime and standard library"),
    Part("libswift_Concurrency", ("libswift_Concurrency.a",), b"Illegal attempt to set a TaskLocal value", SWIFT, "tasks and actors of Swift"),
    Part("libswift_StringProcessing", ("libswift_StringProcessing.a",), b"Invalid code: Tried to clear save points when empty", SWIFT,
         "Swift's regular expressions"),
    Part("libswift_RegexParser", ("libswift_RegexParser.a",), b"endOfSubjectBeforeNewline", SWIFT, "the parser of Swift's regular expressions"),
    Part("libswiftSynchronization", ("libswiftSynchronization.a",), b"Recursive call to lock Mutex", SWIFT, "locks and atomic values of Swift"),
    Part("libFoundationEssentials", ("libFoundationEssentials.a", "lib_FoundationCShims.a"),
         b"Attempting to set percentEncodedFragment with invalid characters", SWIFT, "URLs, dates, JSON and files of Swift's Foundation, without ICU"),
    Part("lib_FoundationCollections", ("lib_FoundationCollections.a",), b"Hash table has no unoccupied buckets", SWIFT,
         "swift-collections, as Foundation has it inside"),
    Part("libdispatch", ("libdispatch.a", "libswiftDispatch.a", "libBlocksRuntime.a"), b"com.apple.libdispatch-manager", SWIFT,
         "Grand Central Dispatch, which Swift's runtime uses, with the runtime of blocks"),
    Part("libstdc++", ("libstdc++.a", "libgcc.a"), b"N10__cxxabiv117__class_type_infoE", LIBGCC, "GCC's C++ library, which Swift's runtime uses"),
]


def archives():
    """The static libraries whose parts are listed, and packaging/device/left-out's own, which has none of others in it."""
    return {"libleft-out.a"} | {archive for part in TOOLCHAIN for archive in part.archives}


class Library(NamedTuple):
    """A shared library of the system."""
    name: str
    package: str
    licence: str


SHARED = {
    "libc.so.6": Library("glibc", "libc6", "LGPL-2.1-or-later"),
    "libm.so.6": Library("glibc", "libc6", "LGPL-2.1-or-later"),
    "ld-linux-x86-64.so.2": Library("glibc", "libc6", "LGPL-2.1-or-later"),
    "ld-linux-aarch64.so.1": Library("glibc", "libc6", "LGPL-2.1-or-later"),
    "libgcc_s.so.1": Library("libgcc", "libgcc-s1", LIBGCC),
    "libnl-3.so.200": Library("libnl", "libnl-3-200", "LGPL-2.1-only"),
    "libnl-route-3.so.200": Library("libnl-route", "libnl-route-3-200", "LGPL-2.1-only"),
    "libcurl.so.4": Library("libcurl", "libcurl4", "curl"),
    "libsqlite3.so.0": Library("SQLite", "libsqlite3-0", "blessing"),
    "libidn2.so.0": Library("libidn2", "libidn2-0", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    "libz.so.1": Library("zlib", "zlib1g", "Zlib"),
    "libbrotlidec.so.1": Library("brotli", "libbrotli1", "MIT"),
}
