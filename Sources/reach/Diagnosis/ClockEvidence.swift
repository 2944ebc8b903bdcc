// SPDX-License-Identifier: Apache-2.0

/// From when to when a certificate is valid, in seconds since 1970; nil where that is not known.
struct CertificateTimes: Sendable, Equatable {
    var begins: Int64?
    var ends: Int64?

    func contains(_ moment: Int64) -> Bool {
        begins.map { $0 <= moment } != false && ends.map { moment <= $0 } != false
    }
}

/// What there is to tell by whether this machine's clock is wrong, or the certificate that is not valid by
/// it; times in seconds since 1970.
struct ClockEvidence: Sendable, Equatable {
    /// What this machine's clock shows.
    var now: Int64
    /// A moment that is over for certain: this program was made then.
    var made: Int64
    /// The certificate that is not valid now.
    var certificate = CertificateTimes()
    /// The server's clock; nil where it sends no time.
    ///
    /// The server has shown a certificate that is not valid, so nobody vouches for it: it is a hint to a
    /// person, and nothing is set by it.
    var server: Int64?
    /// Whether all certificates that the server shows are valid now: then it is an authority that this
    /// machine trusts.
    var isOfAuthority = false

    /// So many seconds are no matter to certificates and tokens.
    static let tolerance: Int64 = 300

    enum Culprit: Sendable, Equatable {
        case clock, certificate
        /// An authority's, which this machine has.
        case authority
        /// Nothing confirms it.
        case probablyClock, probablyCertificate
    }

    var culprit: Culprit {
        if isBeforeProgram { return .clock }
        if isOfAuthority { return .authority }
        if let server {
            return abs(now - server) > Self.tolerance && certificate.contains(server) ? .clock : .certificate
        }
        // Certificates are rarely made for later; but they are forgotten.
        return certificate.begins.map { now < $0 } == true ? .probablyClock : .probablyCertificate
    }

    /// Whether the clock shows a time before this program was made; a day is left for the clocks of those who
    /// make programs.
    var isBeforeProgram: Bool { now < made - 86_400 }
}
