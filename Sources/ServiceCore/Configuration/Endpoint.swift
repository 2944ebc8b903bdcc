// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// An address with a port to listen at: `127.0.0.1:9464`, `[::1]:9464`.
package struct Endpoint: Sendable, Equatable, CustomStringConvertible {
    package var address: IPAddress
    /// 0 lets the kernel choose one.
    package var port: UInt16

    package init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Reads the text; nil for anything else, names included.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            !text[text.index(after: colon)...].hasPrefix("+")
        else { return nil }
        var host = String(text[..<colon])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = String(host.dropFirst().dropLast()) }
        guard let address = IPAddress(host), (address.family == .ipv6) == isBracketed else { return nil }
        self.init(address: address, port: port)
    }

    /// Whether only this machine gets there.
    package var isLoopback: Bool { address.isLoopback }

    package var description: String {
        address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}
