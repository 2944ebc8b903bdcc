// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import CNetlink
internal import EventLoop
internal import Glibc
package import ReachabilityCore

/// Opens sockets in another network namespace (network_namespaces(7)).
///
/// It holds the namespace open, and short-lived threads enter it, because a thread cannot leave.
package final class NamespaceEntry: Sendable {
    private let descriptor: Int32
    /// The namespace's file, for messages.
    private let path: String

    /// Opens the namespace's file: `/run/netns/blue`, `/proc/1234/ns/net`.
    package init(path: String) throws(ReachabilityError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ReachabilityError(
                .namespaceRefused, errno: errno,
                context: "cannot open the network namespace \(path): \(KernelNames.error(errno))",
                advice: errno == ENOENT
                    ? "`ip netns list` shows the names, whose files lie in /run/netns"
                    : "reading it may need the rights of the user who made it")
        }
        self.descriptor = descriptor
        self.path = path
        do {
            try run {}
        } catch {
            // All properties are set, so the deinitializer closes the descriptor.
            throw ReachabilityError(
                .namespaceRefused, errno: error.errno, context: error.description,
                advice: error.errno == EINVAL
                    ? "the file must name a network namespace, as /run/netns/… and /proc/…/ns/net do"
                    : "entering a network namespace needs CAP_SYS_ADMIN: run as root or in that namespace")
        }
    }

    deinit { close(descriptor) }

    /// Runs `body` on a thread inside the namespace and returns its result.
    ///
    /// Escaping because `withoutActuallyEscaping` puts the length of this file's path into the program, which
    /// differs between two folders of a release.
    package func run<Result>(_ body: @escaping () -> Result) throws(NetlinkError) -> Result {
        let visit = Visit(descriptor: descriptor, body: body)
        do throws(ReactorError) {
            try LoopThread.start(name: "reach-namespace") { visit.perform() }.join()
        } catch {
            throw NetlinkError("start a thread for the network namespace \(path)", errno: error.errno)
        }
        guard let result = visit.result else {
            throw NetlinkError("enter the network namespace \(path)", errno: visit.failure)
        }
        return result
    }
}

/// The work of the short-lived thread.
///
/// Unchecked because the compiler cannot see the join: its creator reads the result after the thread's end.
private final class Visit<Result>: @unchecked Sendable {
    private let descriptor: Int32
    private let body: () -> Result
    private(set) var result: Result?
    private(set) var failure: Int32 = 0

    init(descriptor: Int32, body: @escaping () -> Result) {
        self.descriptor = descriptor
        self.body = body
    }

    func perform() {
        guard clinux_setns(descriptor, Int32(CLINUX_CLONE_NEWNET)) == 0 else { return failure = errno }
        result = body()
    }
}
