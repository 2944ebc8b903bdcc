// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// An anonymous network namespace that ends with the object.
///
/// A thread unshares it and ends; the open descriptor keeps it alive.
final class TestNamespace: Sendable {
    /// Whether tests with a namespace run: if the kernel permits one, as root, or if they are required.
    static let isAvailable: Bool = NetworkLab.isRequired || (try? TestNamespace()) != nil

    var path: String { "/proc/self/fd/\(descriptor)" }
    /// The entry to the namespace.
    let entry: NamespaceEntry
    private let descriptor: Int32

    struct Failure: Error {
        let text: String
    }

    init() throws {
        // Unchecked, since the thread is joined before the result is read.
        final class Result: @unchecked Sendable {
            var descriptor: Int32 = -1
        }
        let result = Result()
        var thread = pthread_t()
        let started = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let result = Unmanaged<Result>.fromOpaque(argument).takeUnretainedValue()
                if clinux_unshare(Int32(CLINUX_CLONE_NEWNET)) == 0 {
                    result.descriptor = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
                }
                return nil
            }, Unmanaged.passUnretained(result).toOpaque())
        guard started == 0 else { throw Failure(text: "pthread_create: \(started)") }
        pthread_join(thread, nil)
        guard result.descriptor >= 0 else { throw Failure(text: "unshare is not allowed") }
        descriptor = result.descriptor
        entry = try NamespaceEntry(path: "/proc/self/fd/\(result.descriptor)")
    }

    deinit { close(descriptor) }

    /// Runs a shell script inside and waits for it; a failing command is an error.
    func shell(_ script: String) throws {
        let status: Int32 = try entry.run {
            var process = pid_t()
            var arguments: [UnsafeMutablePointer<CChar>?] = []
            for word in ["sh", "-ec", script] { arguments.append(strdup(word)) }
            arguments.append(nil)
            defer { arguments.forEach { free($0) } }
            guard posix_spawn(&process, "/bin/sh", nil, nil, &arguments, environ) == 0 else { return -1 }
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            return status
        }
        guard status == 0 else { throw Failure(text: "exit status \(status): \(script)") }
    }

    /// A namespace with v0 (index 10, 10.0.0.2/24) and its peer p0 (index 21), both up, and a default route.
    static func withDefaultRoute() throws -> TestNamespace {
        let namespace = try TestNamespace()
        try namespace.shell(
            """
            sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
            ip link set lo up
            ip link add v0 index 10 type veth peer name p0 index 21
            ip link set v0 up
            ip link set p0 up
            ip addr add 10.0.0.2/24 dev v0
            ip route add default via 10.0.0.1 dev v0 metric 100
            for link in v0 p0; do until ip link show $link | grep -q "state UP"; do :; done; done
            """)
        return namespace
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs only if a network namespace can be created, which needs root.
    static var needsNamespace: Self {
        .enabled(if: TestNamespace.isAvailable, "making a network namespace needs root (CAP_SYS_ADMIN)")
    }
}

/// Waits until the descriptor is readable; false after half a minute.
func waitUntilReadable(_ descriptor: Int32) -> Bool {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&wanted, 1, 30_000) == 1
}
