// SPDX-License-Identifier: Apache-2.0

import CCurl
import FoundationEssentials
import Glibc
import SessionCore

/// The cookies of a session for a request that libcurl does not write itself: libcurl's jar, by its own lines
/// (CURLOPT_COOKIELIST(3)); on the loop's thread.
struct CookieJar {
    private let easy: EasyHandle
    private let target: CookieTarget

    init?(_ transfer: Transfer) {
        guard let easy = transfer.easy, let target = CookieTarget(transfer.request.url) else { return nil }
        self.easy = easy
        self.target = target
    }

    /// What the field `Cookie` says; nil for none.
    var line: String? {
        var list: UnsafeMutablePointer<curl_slist>?
        guard ccurl_get_list(easy.raw, CURLINFO_COOKIELIST, &list) == CURLE_OK, let first = list else {
            return nil
        }
        defer { ccurl_list_free(first) }
        var cookies: [StoredCookie] = []
        var next: UnsafeMutablePointer<curl_slist>? = first
        while let item = next {
            if let text = item.pointee.data, let cookie = StoredCookie(line: String(cString: text)) {
                cookies.append(cookie)
            }
            next = item.pointee.next
        }
        return target.field(cookies, at: Int64(time(nil)))
    }

    /// Stores what the lines of a head set.
    func store(_ lines: [UInt8]) {
        for line in String(decoding: lines, as: UTF8.self).split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == "set-cookie",
                let cookie = StoredCookie(
                    field: String(line[line.index(after: colon)...]), of: target, at: Int64(time(nil)))
            else { continue }
            easy.set(CURLOPT_COOKIELIST, cookie.line)
        }
    }
}
