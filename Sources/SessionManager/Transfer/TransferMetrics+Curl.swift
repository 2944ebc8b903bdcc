// SPDX-License-Identifier: Apache-2.0

import CCurl
import SessionCore

extension TransferMetrics {
    /// What libcurl measured of the transfer that the handle has just carried out.
    init(_ easy: EasyHandle, version: HTTPVersion?) {
        self.init()
        func time(_ info: CURLINFO) -> Duration { .microseconds(easy.offset(info)) }
        nameLookup = time(CURLINFO_NAMELOOKUP_TIME_T)
        connect = time(CURLINFO_CONNECT_TIME_T)
        secureConnection = time(CURLINFO_APPCONNECT_TIME_T)
        requestStart = time(CURLINFO_PRETRANSFER_TIME_T)
        firstByte = time(CURLINFO_STARTTRANSFER_TIME_T)
        total = time(CURLINFO_TOTAL_TIME_T)
        bytesSent = easy.offset(CURLINFO_SIZE_UPLOAD_T)
        bytesReceived = easy.offset(CURLINFO_SIZE_DOWNLOAD_T)
        headerBytesReceived = Int64(easy.long(CURLINFO_HEADER_SIZE))
        self.version = version
        isReusedConnection = easy.long(CURLINFO_NUM_CONNECTS) == 0
        remote = Self.endpoint(easy, CURLINFO_PRIMARY_IP, CURLINFO_PRIMARY_PORT)
        local = Self.endpoint(easy, CURLINFO_LOCAL_IP, CURLINFO_LOCAL_PORT)
    }

    private static func endpoint(_ easy: EasyHandle, _ address: CURLINFO, _ port: CURLINFO) -> Endpoint? {
        guard let text = easy.text(address), !text.isEmpty else { return nil }
        return Endpoint(address: text, port: easy.long(port))
    }
}
