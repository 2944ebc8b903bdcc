// SPDX-License-Identifier: Apache-2.0

import CLinux
package import EventLoop
import Glibc

/// A network namespace with a loopback interface that is down (network_namespaces(7)).
///
/// It has no name and leaves nothing behind: a thread lives in it, and the kernel removes it with its devices
/// when this object is released, or when the test process ends. Programs that run in it keep it alive.
///
/// Needs CAP_SYS_ADMIN; root under `unshare -Urn` has it.
package final class NetworkNamespace: Sendable {
    /// A file that names the namespace, for `ip … netns PATH` and
    /// `ReachabilityConfiguration.networkNamespace`.
    package let path: String
    /// The loop whose thread lives in the namespace; descriptors opened on it belong there.
    package let reactor: Reactor
    private let descriptor: OwnedDescriptor

    package init() async throws {
        reactor = try Reactor(name: "netns")
        let number = try await reactor.result {
            guard clinux_unshare(Int32(CLINUX_CLONE_NEWNET)) == 0 else {
                throw LabError("unshare(CLONE_NEWNET)", errno: errno)
            }
            return try OwnedDescriptor("netns", open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC))
                .release()
        }
        descriptor = OwnedDescriptor(adopting: number)
        path = "/proc/\(getpid())/fd/\(number)"
    }

    /// Runs `body` on the thread that lives in the namespace; sockets that it opens belong there.
    @discardableResult
    package func perform<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await reactor.result(of: body)
    }

    /// Writes a kernel setting of this namespace, for example `net.ipv4.conf.v0.forwarding`.
    ///
    /// With slashes instead of dots if an interface's name has a dot (sysctl(8)).
    package func sysctl(_ key: String, _ value: String) async throws {
        let file = Self.file(of: key)
        try await perform {
            // On this thread, since /proc/sys/net shows each thread its own namespace.
            let setting = try OwnedDescriptor("sysctl \(key)", open(file, O_WRONLY | O_CLOEXEC))
            guard write(setting.number, value, value.utf8.count) == value.utf8.count else {
                throw LabError("sysctl \(key)=\(value)", errno: errno)
            }
        }
    }

    /// Reads a kernel setting of this namespace.
    package func sysctl(_ key: String) async throws -> String {
        let file = Self.file(of: key)
        return try await perform {
            let setting = try OwnedDescriptor("sysctl \(key)", open(file, O_RDONLY | O_CLOEXEC))
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(setting.number, &buffer, buffer.count)
            guard count >= 0 else { throw LabError("sysctl \(key)", errno: errno) }
            return String(decoding: buffer.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        }
    }

    private static func file(of key: String) -> String {
        "/proc/sys/" + (key.contains("/") ? key : String(key.map { $0 == "." ? "/" : $0 }))
    }
}
