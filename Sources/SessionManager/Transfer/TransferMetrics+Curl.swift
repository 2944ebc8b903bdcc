// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import SessionCore

extension TransferMetrics {
    /// What libcurl measured of the transfer that the handle has just carried out.
    init(_ easy: EasyHandle, version: HTTPVersion?) {
        self.init()
        let figures = ccurl_get_figures(easy.raw)
        steps = Steps(
            nameLookup: figures.name_lookup &* 1_000, connect: figures.connect &* 1_000,
            secureConnection: figures.tls &* 1_000, requestStart: figures.request_start &* 1_000,
            firstByte: Self.firstByte(easy, figures), total: figures.total &* 1_000)
        bytesSent = figures.uploaded
        bytesReceived = figures.downloaded
        headerBytesReceived = Int64(figures.header_bytes)
        self.version = version
        isReusedConnection = figures.connects == 0
        remote = Endpoint(figures.remote, figures.remote_port, &easy.remoteText)
        local = Endpoint(figures.local, figures.local_port, &easy.localText)
    }

    /// When the response began, in nanoseconds; zero where none did.
    ///
    /// For a body libcurl has the time when it began to send that (7.88): there the head's first line counts.
    private static func firstByte(_ easy: EasyHandle, _ figures: ccurl_figures) -> Int64 {
        guard easy.options?.hasBody == true else { return figures.first_byte &* 1_000 }
        let line = ccurl_head_first(easy.head)
        let sinceThen = easy.turn.clock.now &- line
        return line == 0 ? 0 : max(figures.request_start, figures.total &- sinceThen / 1_000) &* 1_000
    }
}

extension TransferMetrics.Endpoint {
    /// An end as libcurl has it, nil for none; `last` is the text of the one before, mostly the same.
    fileprivate init?(_ address: UnsafePointer<CChar>?, _ port: Int, _ last: inout String) {
        guard let address, address.pointee != 0 else { return nil }
        let length = strlen(address)
        let isLast = last.withUTF8 { text in
            guard text.count == length, let start = text.baseAddress else { return false }
            return memcmp(start, address, length) == 0
        }
        if !isLast { last = String(cString: address) }
        self.init(address: last, port: port)
    }
}
