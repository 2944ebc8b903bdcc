// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

/// Which certificate of a chain is not valid now, and where it comes from.
struct OutdatedRootsTests {
    private static let failure = TransportFailure(
        curlCode: 60, message: "SSL certificate problem: certificate has expired")
    /// After the end of the fixture, in 2109, and before its beginning.
    private static let late = Date(timeIntervalSince1970: 4_500_000_000)
    private static let early = Date(timeIntervalSince1970: 1_000_000_000)

    private func error(_ source: TrustRoots.Source, at now: Date, result: Int = 10) throws -> SessionError {
        try #require(
            SessionError.tls(
                Self.failure, verifyResult: result, refusal: nil, url: URL(string: "https://host.example/"),
                showsIdentity: false, roots: OutdatedRoots(source, at: now)))
    }

    @Test("FLD-038 an authority of the policy that has expired is told as that, with where it comes from")
    func expired() throws {
        let error = try error(.certificates([CertificateFixture.der]), at: Self.late)
        #expect(error.code == .certificateHasBadDate)
        #expect(
            error.message
                == "the authority CN=\"pinned.example\" among the trust roots, to which the certificate of host.example leads, expired on 2109-01-10"
        )
        #expect(error.advice.contains("the authority's current certificate"), "\(error)")
        let path = FileManager.default.temporaryDirectory.appending(path: "reach-roots-\(UUID()).pem")
        try Data(CertificateFixture.pem.utf8).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        let file = try self.error(.file(path.path), at: Self.late)
        #expect(file.message.contains("in \"\(path.path)\""), "\(file)")
    }

    @Test("FLD-038 so is one that is not valid yet")
    func early() throws {
        let error = try error(.certificates([CertificateFixture.der]), at: Self.early, result: 9)
        #expect(error.code == .certificateNotYetValid)
        #expect(error.message.hasSuffix("is not valid before 2026-11-21"), "\(error)")
    }

    @Test("FLD-038 where the authorities are valid it is the server's certificate")
    func server() throws {
        let now = Date(timeIntervalSince1970: 2_000_000_000)
        let error = try error(.certificates([CertificateFixture.der]), at: now)
        #expect(error.message.hasPrefix("the certificate of host.example has expired"), "\(error)")
        // Another fault than the date has nothing to do with it.
        let other = try self.error(.certificates([CertificateFixture.der]), at: Self.late, result: 20)
        #expect(other.message.contains("neither trusted nor sent along"), "\(other)")
    }
}
