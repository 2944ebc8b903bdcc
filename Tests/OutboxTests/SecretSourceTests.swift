// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Outbox

/// The sources of secrets.
@Suite struct SecretSourceTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder("reach-secrets") }

    private func text(_ content: Data) async throws -> String {
        let path = folder("secret-\(content.count)")
        try content.write(to: URL(filePath: path))
        return try await FileSecrets().secret(named: path)
    }

    /// The error of reading a secret.
    private func complaint(_ source: some SecretSource, _ key: String) async -> String {
        do { return "none: \(try await source.secret(named: key))" } catch { return "\(error)" }
    }

    @Test("A file's secret is its content without the line breaks at its end")
    func file() async throws {
        #expect(try await text(Data("s3cr3t".utf8)) == "s3cr3t")
        #expect(try await text(Data(" a\nb \r\n\n".utf8)) == " a\nb ")
        #expect(try await text(Data(repeating: 97, count: 64 << 10)).utf8.count == 64 << 10)
    }

    @Test("A file that is none, or empty, or too long, is told apart, by name")
    func noFile() async throws {
        let source = FileSecrets()
        let missing = folder("missing")
        #expect(await complaint(source, missing).contains("\(missing): No such file or directory"))
        #expect(await complaint(source, folder.path).contains("\(folder.path): Is a directory"))
        let empty = folder("empty")
        try Data("\n".utf8).write(to: URL(filePath: empty))
        #expect(await complaint(source, empty).contains("\(empty) is empty"))
        let long = folder("long")
        try Data(repeating: 97, count: 64 << 10 + 1).write(to: URL(filePath: long))
        #expect(await complaint(source, long).contains("\(long) has more than 64 KiB"))
        // The pipe has no writer.
        let pipe = folder("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(await complaint(source, pipe).contains("\(pipe) is empty"))
    }

    @Test("A variable's secret is its value; none and an empty one are no secret")
    func environment() async throws {
        // PATH is set for these tests too.
        #expect(try await EnvironmentSecrets().secret(named: "PATH") == String(cString: getenv("PATH")))
        let missing = "REACH_TEST_NO_SUCH_VARIABLE"
        #expect(await complaint(EnvironmentSecrets(), missing).contains("no variable \(missing)"))
    }
}
