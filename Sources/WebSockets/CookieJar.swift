// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SessionCore
import SessionManager

/// The cookies of a session for a request that libcurl does not write itself: libcurl's jar, by its own lines
/// (CURLOPT_COOKIELIST(3)); on the loop's thread.
struct CookieJar {
    private let connection: TakenConnection
    private let target: CookieTarget

    /// The jar of a connection's session; nil where the request has it take no part.
    init?(_ connection: TakenConnection, for request: SessionRequest) {
        guard request.options.handlesCookies, let target = CookieTarget(request.url) else { return nil }
        self.connection = connection
        self.target = target
    }

    /// What the field `Cookie` says; nil for none.
    var line: String? { target.field(stored, at: Int64(time(nil))) }

    private var stored: [StoredCookie] { connection.cookieLines.compactMap { StoredCookie(line: $0) } }

    /// Stores what the lines of a head set, but nothing over a `Secure` cookie where they came without TLS:
    /// libcurl, which checks that for its own requests, trusts what it is given.
    func store(_ lines: [UInt8]) {
        let seconds = Int64(time(nil))
        for line in String(decoding: lines, as: UTF8.self).split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == "set-cookie",
                let cookie = StoredCookie(
                    field: String(line[line.index(after: colon)...]), of: target, at: seconds),
                target.isSecure || !cookie.isOverlaying(stored, at: seconds)
            else { continue }
            connection.store(cookieLine: cookie.line)
        }
    }
}
