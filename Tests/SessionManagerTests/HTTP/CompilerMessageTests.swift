// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What the compiler says of programs that use the library in a wrong way.
struct CompilerMessageTests {
    private let script =
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/packaging/checks/renamed"

    @Test(
        "FLD-043 FLD-046 FLD-049 the compiler says what to do about an answer without a type, and about every name of AFNetworking's that its article has"
    )
    func messages() async throws {
        let origin = try await TestSupport.Origin.shared
        let result = try await origin.run(["/usr/bin/python3", "-B", script])
        #expect(result.status == .exited(0), "\(result.text) \(result.errors)")
    }
}
