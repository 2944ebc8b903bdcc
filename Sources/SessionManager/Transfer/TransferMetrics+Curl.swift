// SPDX-License-Identifier: Apache-2.0

import CCurl
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
        remote = Self.endpoint(figures.remote, figures.remote_port)
        local = Self.endpoint(figures.local, figures.local_port)
    }

    private static func endpoint(_ address: UnsafePointer<CChar>?, _ port: Int) -> Endpoint? {
        guard let address, address.pointee != 0 else { return nil }
        return Endpoint(address: String(cString: address), port: port)
    }
}
