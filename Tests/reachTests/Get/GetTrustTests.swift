// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import reach

/// `reach get` over https with other system authorities.
@Suite("The program: get and the system's authorities", .timeLimit(.minutes(10)))
struct GetTrustTests {
    /// Runs `reach get` where `/etc/ssl/certs` has one authority in the bundle, and one by the hash of its
    /// name.
    private func get(file: OriginCertificate, directory: OriginCertificate) async throws -> GetLab.Result {
        let lab = try await GetLab()
        let (file, directory) = (lab.origin.pem(file), lab.origin.pem(directory))
        let inside = """
            mount -t tmpfs none /etc/ssl/certs && cp \(file) /etc/ssl/certs/ca-certificates.crt || exit 99
            cp \(directory) /etc/ssl/certs/$(openssl x509 -noout -hash -in \(directory)).0 || exit 99
            exec "$@"
            """
        let end = try await lab.shell(
            "exec unshare \(getuid() == 0 ? "" : "--map-root-user ")--mount sh -c '\(inside)' sh \"$@\"",
            [lab.origin.url("/bytes/1000", at: .https, host: "127.0.0.1")])
        try #require(end.code != 99, "no file system can be mounted: \(end.errors)")
        return end
    }

    @Test("an authority counts in the file of all, and alone in the directory")
    func authorities() async throws {
        let inFile = try await get(file: .root, directory: .otherRoot)
        #expect(inFile.code == 0 && inFile.output.count == 1000, "\(inFile.errors)")
        let inDirectory = try await get(file: .otherRoot, directory: .root)
        #expect(inDirectory.code == 0 && inDirectory.output.count == 1000, "\(inDirectory.errors)")
    }

    @Test("a server of an authority that is in neither is refused")
    func strangers() async throws {
        let end = try await get(file: .otherRoot, directory: .clientRoot)
        #expect(end.code == 7 && end.output.isEmpty, "\(end.errors)")
    }
}
