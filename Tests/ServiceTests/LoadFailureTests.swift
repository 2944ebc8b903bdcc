// SPDX-License-Identifier: Apache-2.0

import CLoader
import Testing

/// The causes behind dlerror(3)'s messages.
struct LoadFailureTests {
    @Test(
        "FLD-073 lack of memory and of descriptors are told apart from a library that is missing",
        arguments: [
            ("libcrypto.so.3: failed to map segment from shared object", CLOADER_NO_MEMORY),
            (
                "libcurl.so.4: cannot create shared object descriptor: Cannot allocate memory",
                CLOADER_NO_MEMORY
            ),
            ("libcurl.so.4: cannot create shared object descriptor", CLOADER_NO_MEMORY),
            ("libz.so.1: cannot open shared object file: Cannot allocate memory", CLOADER_NO_MEMORY),
            ("libz.so.1: cannot map zero-fill pages", CLOADER_NO_MEMORY),
            ("out of memory", CLOADER_NO_MEMORY),
            ("libz.so.1: cannot open shared object file: Too many open files", CLOADER_NO_RESOURCES),
            (
                "libz.so.1: cannot open shared object file: Too many open files in system",
                CLOADER_NO_RESOURCES
            ),
            ("libz.so.1: cannot open shared object file: No such file or directory", CLOADER_NOT_FOUND),
            ("libz.so.1: cannot allocate memory in static TLS block", CLOADER_NOT_FOUND),
            (
                "libz.so.1: failed to map segment from shared object: Operation not permitted",
                CLOADER_NOT_FOUND
            ),
            ("libz.so.1: invalid ELF header", CLOADER_NOT_FOUND),
        ])
    func causes(message: String, cause: cloader_result) {
        #expect(cloader_explain(message) == cause)
    }
}
