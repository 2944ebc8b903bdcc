// SPDX-License-Identifier: Apache-2.0

import CZlib
import SessionCore

/// What a server may have done to the content to make it smaller (RFC 9110 §8.4.1).
enum ContentCoding: Equatable {
    case known(czlib_coding)
    case unknown(String)

    init(name: some Sequence<UInt8>) {
        let name = String(decoding: Array(name), as: UTF8.self).lowercased()
        switch name {
        case "gzip", "x-gzip": self = .known(CZLIB_GZIP)
        case "deflate": self = .known(CZLIB_DEFLATE)
        case "br": self = .known(CZLIB_BROTLI)
        default: self = .unknown(name)
        }
    }

    /// What is offered to servers: what there are libraries for; nil where there is none.
    static let accepted: String? = {
        let codings: [(czlib_coding, String)] = [
            (CZLIB_BROTLI, "br"), (CZLIB_GZIP, "gzip"), (CZLIB_DEFLATE, "deflate"),
        ]
        var line = ""
        for (coding, name) in codings where czlib_can_decode(coding) {
            line += line.isEmpty ? "Accept-Encoding: " : ", "
            line += name
        }
        return line.isEmpty ? nil : line
    }()
}
