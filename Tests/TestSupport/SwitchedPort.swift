// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Synchronization

/// A port of this machine that leads to another one, for each connection the one that a test has chosen last.
package final class SwitchedPort: Sendable {
    package let port: Int
    private let reactor: Reactor
    private let target: Mutex<(port: Int, count: Int)>
    private let listener: OwnedDescriptor

    /// - Parameter port: where its connections lead.
    package init(to port: Int) async throws {
        let listener = try OwnedDescriptor("socket", Self.socket())
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = listener.number
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, length) == 0 && listen(number, 64) == 0
                    && getsockname(number, $0, &length) == 0
            }
        }
        guard isBound else { throw ReactorError("bind", errno: errno) }
        self.port = Int(UInt16(bigEndian: address.sin_port))
        self.listener = listener
        target = Mutex((port, 0))
        reactor = try Reactor(name: "switched-port")
        let me = self
        try await reactor.result { [weak me, reactor] in
            try reactor.watch(number, for: .readable) { _ in
                if let me { Self.connect(number, to: me.next(), on: reactor) }
            }
        }
    }

    deinit { reactor.stop() }

    /// How many connections were made.
    package var count: Int { target.withLock { $0.count } }

    /// Later connections lead there.
    package func lead(to port: Int) { target.withLock { $0.port = port } }

    private func next() -> Int {
        target.withLock { target in
            target.count += 1
            return target.port
        }
    }

    private static func socket() -> Int32 {
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func connect(_ listener: Int32, to port: Int, on reactor: Reactor) {
        let near = accept(listener, nil, nil)
        guard near >= 0 else { return }
        let far = socket()
        var address = address(port)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(far, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(near)
            close(far)
            return
        }
        for (one, other) in [(near, far), (far, near)] {
            _ = try? reactor.watch(one, for: .readable) { _ in
                var bytes = [UInt8](repeating: 0, count: 65_536)
                let count = read(one, &bytes, bytes.count)
                // The receiver reads all the time, so that this does not block for long.
                if count > 0, send(other, bytes, count, Int32(MSG_NOSIGNAL)) == count { return }
                for descriptor in [one, other] {
                    reactor.unwatch(descriptor)
                    close(descriptor)
                }
            }
        }
    }
}
