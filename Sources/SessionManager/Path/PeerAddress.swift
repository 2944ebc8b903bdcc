// SPDX-License-Identifier: Apache-2.0

import CCurl
import Reachability

extension PeerAddress {
    /// What libcurl is about to connect to; nil for what is neither IPv4 nor IPv6.
    init?(_ target: UnsafePointer<curl_sockaddr>) {
        // The structure ends with the beginning of an address that may be longer
        // (CURLOPT_OPENSOCKETFUNCTION(3)).
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let bytes = UnsafeRawBufferPointer(
            start: UnsafeRawPointer(target) + offset, count: Int(target.pointee.addrlen))
        self.init(bytes)
    }
}
