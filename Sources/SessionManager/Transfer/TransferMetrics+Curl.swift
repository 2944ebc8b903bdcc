// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import SessionCore

extension TransferMetrics {
    /// What libcurl measured of the transfer that the handle has just carried out.
    init(_ easy: EasyHandle, version: HTTPVersion?) {
        self.init()
        let figures = ccurl_get_figures(easy.raw)
        nameLookup = .microseconds(figures.name_lookup)
        connect = .microseconds(figures.connect)
        secureConnection = .microseconds(figures.tls)
        requestStart = .microseconds(figures.request_start)
        firstByte = .microseconds(figures.first_byte)
        total = .microseconds(figures.total)
        bytesSent = figures.uploaded
        bytesReceived = figures.downloaded
        headerBytesReceived = Int64(figures.header_bytes)
        self.version = version
        isReusedConnection = figures.connects == 0
        remote = Endpoint(figures.remote, figures.remote_port, &easy.remoteText)
        local = Endpoint(figures.local, figures.local_port, &easy.localText)
    }
}

extension TransferMetrics.Endpoint {
    /// An end as libcurl tells it; nil where there is none.
    ///
    /// `last` is the text of the one before, which mostly is the same.
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
