// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The programs that were built together with the tests.
package enum BuiltProgram {
    /// Whether they are built with a sanitizer (`Tests/Sanitizers/run`).
    package static var isInstrumented: Bool { getenv("TSAN_OPTIONS") != nil || getenv("ASAN_OPTIONS") != nil }
    /// Why a test of what happens with hardly any resources does not run then.
    package static let instrumentsNeed =
        "the sanitizer's own runtime needs more memory, threads and descriptors than this test leaves"

    /// The path of `reach`, which lies beside the test program.
    package static let reach = path("reach")

    /// The path of a program that lies beside the test program.
    package static func path(_ name: String) -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        let tests = String(decoding: bytes[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return tests.lastIndex(of: "/").map { tests[...$0] + name } ?? name
    }
}
