// SPDX-License-Identifier: Apache-2.0

/// The validity period of a certificate, in seconds since 1970; nil where unknown.
struct CertificateTimes: Sendable, Equatable {
    var begins: Int64?
    var ends: Int64?

    func contains(_ moment: Int64) -> Bool {
        begins.map { $0 <= moment } != false && ends.map { moment <= $0 } != false
    }
}

/// The evidence on whether this machine's clock or a certificate is wrong; times in seconds since 1970.
struct ClockEvidence: Sendable, Equatable {
    /// This machine's clock.
    var now: Int64
    /// A time that has certainly passed: when this program was built.
    var made: Int64
    /// The certificate that is not valid now.
    var certificate = CertificateTimes()
    /// The server's clock, a mere hint for people, as its certificate is not valid; nil if it sends no time.
    var server: Int64?
    /// Whether all certificates of the server are valid now; then the invalid one is a local authority's.
    var isOfAuthority = false
    /// Whether something keeps the clock right, as far as the kernel knows.
    var isSynchronized = true

    /// Whether transfers wait for the clock instead of failing.
    var holdsRequests: Bool { !isSynchronized && certificate.begins.map { now < $0 } == true }

    /// Deviations in seconds that do not affect certificates and tokens.
    static let tolerance: Int64 = 300

    enum Culprit: Sendable, Equatable {
        case clock, certificate
        /// The certificate of an authority on this machine.
        case authority
        /// The more likely cause, without confirmation.
        case probablyClock, probablyCertificate
    }

    var culprit: Culprit {
        if isBeforeProgram { return .clock }
        if isOfAuthority { return .authority }
        if let server {
            return abs(now - server) > Self.tolerance && certificate.contains(server) ? .clock : .certificate
        }
        // Certificates that are not valid yet are rare, expired ones are common.
        return certificate.begins.map { now < $0 } == true ? .probablyClock : .probablyCertificate
    }

    /// Whether the clock shows a time before this program was built, give or take a day.
    var isBeforeProgram: Bool { now < made - 86_400 }
}
