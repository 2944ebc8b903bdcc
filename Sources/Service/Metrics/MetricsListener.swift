// SPDX-License-Identifier: Apache-2.0

import CLinux
package import EventLoop
import Glibc
import Reachability
import ReachabilityCore
package import ServiceCore

/// Answers GET /metrics over HTTP/1.1, one response for each connection; on the loop's thread.
package final class MetricsListener {
    private let reactor: Reactor
    private let socket: OwnedDescriptor
    private let limit: Int
    private let metrics: () -> [UInt8]
    private var clients: [Int32: MetricsClient] = [:]

    /// The port; chosen by the kernel if 0 was configured.
    package let port: UInt16
    package private(set) var served: UInt64 = 0
    /// The connections refused at the limit.
    package private(set) var refused: UInt64 = 0
    /// The number of open connections.
    package var count: Int { clients.count }

    package init(
        _ endpoint: Endpoint, clients limit: Int, reactor: Reactor, metrics: @escaping () -> [UInt8]
    ) throws(ServiceError) {
        self.reactor = reactor
        self.limit = limit
        self.metrics = metrics
        do throws(ReactorError) {
            let family = endpoint.address.family == .ipv4 ? AF_INET : AF_INET6
            let type =
                Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            socket = try OwnedDescriptor("socket", Glibc.socket(family, type, 0))
            var one: Int32 = 1
            setsockopt(socket.number, SOL_SOCKET, SO_REUSEADDR, &one, 4)
            if family == AF_INET6 { setsockopt(socket.number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, 4) }
            guard
                PeerAddress(address: endpoint.address, port: endpoint.port).bind(socket.number) == 0
            else {
                throw ReactorError("bind", errno: errno)
            }
            guard listen(socket.number, 16) == 0 else { throw ReactorError("listen", errno: errno) }
            port = Self.port(of: socket.number)
            try reactor.watch(socket.number, for: .readable, retrying: true) { [weak self] _ in
                self?.accept()
            }
        } catch {
            throw ServiceError("metrics.listen: \(endpoint): \(error); choose another address or port")
        }
    }

    private func accept() {
        // A limited number in a turn; the rest follow with the next turns.
        for _ in 0..<16 {
            let number = clinux_accept(socket.number)
            guard number >= 0 else {
                // No resources for another connection: it stays in the queue, and would wake every turn.
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause() }
                return
            }
            let descriptor = OwnedDescriptor(adopting: number)
            guard clients.count < limit else {
                refused += 1
                continue
            }
            let client = MetricsClient(descriptor, reactor: reactor) { [weak self, metrics] request in
                self?.served += 1
                return request.response(metrics)
            } ended: { [weak self] in
                self?.clients[number] = nil
            }
            clients[number] = client
            client.begin()
        }
    }

    private func pause() {
        reactor.change(socket.number, to: .nothing)
        _ = reactor.schedule(at: Reactor.now + 1_000_000_000) { [weak self] in
            guard let self else { return }
            reactor.change(socket.number, to: .readable)
        }
    }

    /// Closes the listener and all connections.
    package func close() {
        reactor.unwatch(socket.number)
        for client in clients.values { client.close() }
        clients = [:]
    }

    private static func port(of socket: Int32) -> UInt16 {
        // Both families have the port at the same offset.
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        return UInt16(bigEndian: address.sin6_port)
    }
}
