// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// The first line of a response, as libcurl hands it on: `HTTP/1.1 200 OK`, `HTTP/2 200`.
enum StatusLine {
    static func parse(_ line: UnsafeRawBufferPointer) -> (version: HTTPVersion?, status: Int) {
        // The name is case-sensitive (RFC 9112 §2.3).
        guard line.count > 8, line.starts(with: "HTTP/".utf8), let space = line.firstIndex(of: 0x20) else {
            return (nil, 0)
        }
        var status = 0
        for byte in line[(space + 1)...].prefix(3) {
            guard (0x30...0x39).contains(byte) else { return (nil, 0) }
            status = status * 10 + Int(byte - 0x30)
        }
        let version: HTTPVersion? =
            switch (line[5], space) {
            case (0x31, 8): line[7] == 0x30 ? .http1_0 : .http1_1
            case (0x32, _): .http2
            case (0x33, _): .http3
            default: nil
            }
        return (version, status)
    }
}
