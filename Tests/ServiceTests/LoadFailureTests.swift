// SPDX-License-Identifier: Apache-2.0

import CLinux
import Testing

/// What the loader's words mean (dlerror(3)).
struct LoadFailureTests {
    @Test(
        "FLD-073 lack of memory and of descriptors are told apart from a library that is missing",
        arguments: [
            ("libcrypto.so.3: failed to map segment from shared object", CLINUX_MEMORY_SHORT),
            (
                "libcurl.so.4: cannot create shared object descriptor: Cannot allocate memory",
                CLINUX_MEMORY_SHORT
            ),
            ("libcurl.so.4: cannot create shared object descriptor", CLINUX_MEMORY_SHORT),
            ("libz.so.1: cannot open shared object file: Cannot allocate memory", CLINUX_MEMORY_SHORT),
            ("libz.so.1: cannot map zero-fill pages", CLINUX_MEMORY_SHORT),
            ("out of memory", CLINUX_MEMORY_SHORT),
            ("libz.so.1: cannot open shared object file: Too many open files", CLINUX_DESCRIPTORS_SHORT),
            (
                "libz.so.1: cannot open shared object file: Too many open files in system",
                CLINUX_DESCRIPTORS_SHORT
            ),
            ("libz.so.1: cannot open shared object file: No such file or directory", CLINUX_LIBRARY_MISSING),
            ("libz.so.1: cannot allocate memory in static TLS block", CLINUX_LIBRARY_MISSING),
            (
                "libz.so.1: failed to map segment from shared object: Operation not permitted",
                CLINUX_LIBRARY_MISSING
            ),
            ("libz.so.1: invalid ELF header", CLINUX_LIBRARY_MISSING),
        ])
    func causes(message: String, cause: clinux_load_failure) {
        #expect(clinux_explain_load(message) == cause)
    }
}
