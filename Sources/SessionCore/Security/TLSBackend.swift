// SPDX-License-Identifier: Apache-2.0

/// The TLS library below libcurl, as far as a security policy is concerned.
package enum TLSBackend: Sendable, Equatable {
    /// OpenSSL 3 or newer: whole policies.
    case openSSL
    /// Another one: libcurl's own verification, and pins of the server's own key.
    case other(String)

    /// The backend out of libcurl's version text (`ssl_version` of curl_version_info(3)), as `OpenSSL/3.0.19` or `GnuTLS/3.7.9`.
    ///
    /// Names in parentheses are backends that were built in and are not in use.
    package init(_ text: String) {
        let used = text.split(separator: " ").first { !$0.hasPrefix("(") }.map(String.init) ?? ""
        let parts = used.split(separator: "/", maxSplits: 1)
        let major = parts.count == 2 ? Int(parts[1].prefix { $0.isNumber }) ?? 0 : 0
        self = parts.first == "OpenSSL" && major >= 3 ? .openSSL : .other(used)
    }

    package var name: String {
        switch self {
        case .openSSL: "OpenSSL"
        case .other(let name): name.isEmpty ? "no TLS library" : name
        }
    }
}
