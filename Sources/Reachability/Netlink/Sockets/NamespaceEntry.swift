// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import CNetlink
internal import Glibc
package import ReachabilityCore

/// A way to open sockets in another network namespace (network_namespaces(7)).
///
/// The namespace is held open, so it can be entered again even when its name is gone. A thread that enters a
/// namespace stays there; so a short-lived one does, and never the caller's.
package final class NamespaceEntry: Sendable {
    private let descriptor: Int32
    /// The file that names the namespace, for messages.
    private let path: String

    /// Opens the file that names the namespace: `/run/netns/blue`, `/proc/1234/ns/net`.
    package init(path: String) throws(ReachabilityError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ReachabilityError(
                .namespaceRefused, errno: errno,
                context: "cannot open the network namespace \(path): \(KernelNames.error(errno))",
                advice: errno == ENOENT
                    ? "`ip netns list` shows the names, whose files lie in /run/netns"
                    : "reading it may need the rights of whoever made it")
        }
        self.descriptor = descriptor
        self.path = path
        do {
            try run {}
        } catch {
            // The initialiser has set everything, so the object's own end closes the descriptor.
            throw ReachabilityError(
                .namespaceRefused, errno: error.errno, context: error.description,
                advice: error.errno == EINVAL
                    ? "the file must name a network namespace, as /run/netns/… and /proc/…/ns/net do"
                    : "entering a network namespace needs CAP_SYS_ADMIN: run as root or in that namespace")
        }
    }

    deinit { close(descriptor) }

    /// Runs `body` on a thread inside the namespace and returns its result when it is done.
    package func run<Result>(_ body: () -> Result) throws(NetlinkError) -> Result {
        try withoutActuallyEscaping(body) { body throws(NetlinkError) in
            let visit = Visit(descriptor: descriptor, body: body)
            let handed = Unmanaged.passRetained(visit)
            var thread = pthread_t()
            let failure = pthread_create(
                &thread, nil,
                { argument in
                    // pthread_create(3) hands over the very pointer it was given, which is never null.
                    guard let argument else { return nil }
                    Unmanaged<AnyVisit>.fromOpaque(argument).takeRetainedValue().perform()
                    return nil
                }, handed.toOpaque())
            guard failure == 0 else {
                handed.release()
                throw NetlinkError("start a thread for the network namespace \(path)", errno: failure)
            }
            pthread_join(thread, nil)
            guard let result = visit.result else {
                throw NetlinkError("enter the network namespace \(path)", errno: visit.failure)
            }
            return result
        }
    }
}

/// What the short-lived thread does; its class hides the type of the result from the C callback.
private class AnyVisit {
    func perform() {}
}

private final class Visit<Result>: AnyVisit {
    private let descriptor: Int32
    private let body: () -> Result
    private(set) var result: Result?
    private(set) var failure: Int32 = 0

    init(descriptor: Int32, body: @escaping () -> Result) {
        self.descriptor = descriptor
        self.body = body
    }

    override func perform() {
        guard clinux_setns(descriptor, Int32(CLINUX_CLONE_NEWNET)) == 0 else {
            failure = errno
            return
        }
        result = body()
    }
}
