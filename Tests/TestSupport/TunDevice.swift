// SPDX-License-Identifier: Apache-2.0

import CLinux
import CTestSupport
import EventLoop
import Glibc
import Synchronization

/// A tunnel device (tun(4)): it has a carrier while a reader is attached.
///
/// The device lives as long as its namespace, so readers may come and go.
package final class TunDevice: Sendable {
    package let name: String
    private let namespace: NetworkNamespace
    /// The reader's descriptor while there is one.
    private let reader = Mutex<Int32?>(nil)

    /// Why tun devices are impossible here; nil if they are possible.
    package static var unavailableReason: String? {
        access("/dev/net/tun", R_OK | W_OK) == 0 ? nil : "/dev/net/tun: \(String(cString: strerror(errno)))"
    }

    /// Creates a device without a reader, and so without a carrier; it is down.
    package init(_ name: String = "tun0", in namespace: NetworkNamespace) async throws {
        self.name = name
        self.namespace = namespace
        try await namespace.perform {
            let descriptor = try Self.open(name)
            guard clinux_tun_persist(descriptor.number, 1) == 0 else {
                throw LabError("TUNSETPERSIST", errno: errno)
            }
        }
    }

    deinit {
        guard let descriptor = reader.withLock({ $0.take() }) else { return }
        namespace.reactor.perform { [namespace] in
            namespace.reactor.unwatch(descriptor)
            close(descriptor)
        }
    }

    /// Attaches a reader that drops its input: the carrier comes, once the device is up.
    package func attach() async throws {
        let reactor = namespace.reactor
        let number = try await namespace.perform { [name] in
            let descriptor = try Self.open(name)
            let number = descriptor.number
            try reactor.watch(number, for: .readable) { _ in
                var packet = [UInt8](repeating: 0, count: 65536)
                while read(number, &packet, packet.count) > 0 {}
            }
            return descriptor.release()
        }
        reader.withLock { $0 = number }
    }

    /// Detaches the reader: the carrier goes.
    package func detach() async throws {
        guard let descriptor = reader.withLock({ $0.take() }) else { return }
        try await namespace.perform { [reactor = namespace.reactor] in
            reactor.unwatch(descriptor)
            close(descriptor)
        }
    }

    private static func open(_ name: String) throws -> OwnedDescriptor {
        let descriptor = try OwnedDescriptor(
            "/dev/net/tun", Glibc.open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK))
        // A child that another test has just forked holds a copy of the last reader's descriptor until it
        // executes its program, without an event for that, so this polls. The bound only guards against
        // hanging.
        let bound = Reactor.now + 60_000_000_000
        while clinux_tun_attach(descriptor.number, name) != 0 {
            guard errno == EBUSY, Reactor.now < bound else {
                throw LabError("TUNSETIFF \(name)", errno: errno)
            }
            sched_yield()
        }
        return descriptor
    }
}
