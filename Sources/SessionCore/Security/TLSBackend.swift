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
        let names = Array(text.utf8).split(separator: UInt8(ascii: " "))
        guard let used = names.first(where: { $0.first != UInt8(ascii: "(") }) else {
            self = .other("")
            return
        }
        let own = Array("OpenSSL/".utf8)
        let digits = used.dropFirst(own.count).prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        // No version has more digits than these.
        let major = digits.prefix(6).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        let isOwn = used.prefix(own.count) == own[...]
        self = isOwn && major >= 3 ? .openSSL : .other(String(decoding: used, as: UTF8.self))
    }

    package var name: String {
        switch self {
        case .openSSL: "OpenSSL"
        case .other(let name): name.isEmpty ? "no TLS library" : name
        }
    }
}
