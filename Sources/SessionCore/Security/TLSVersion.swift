// SPDX-License-Identifier: Apache-2.0

/// A version of TLS.
public enum TLSVersion: String, Sendable, Codable, CaseIterable, Comparable {
    /// TLS 1.0 (RFC 2246); broken, and refused by many systems' own settings whatever is asked for here.
    case tls1_0 = "TLSv1.0"
    /// TLS 1.1 (RFC 4346); deprecated by RFC 8996.
    case tls1_1 = "TLSv1.1"
    /// TLS 1.2 (RFC 5246).
    case tls1_2 = "TLSv1.2"
    /// TLS 1.3 (RFC 8446).
    case tls1_3 = "TLSv1.3"

    /// Older versions come first.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}
