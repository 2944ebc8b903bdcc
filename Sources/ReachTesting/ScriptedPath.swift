// SPDX-License-Identifier: Apache-2.0

import CLinux
import ReachabilityCore
import Synchronization

/// One subscription; no call begins after ``cancel()`` has returned.
final class ScriptedObserver: Sendable {
    private let handle: @Sendable (ReachabilityUpdate) -> Void
    private let waits: Bool
    private let isCancelled = Atomic<Bool>(false)
    /// Held during a call.
    private let call = Mutex(())
    /// The thread that is in a call; 0 for none.
    private let caller = Atomic<UInt>(0)

    /// - Parameter waits: whether ``cancel()`` waits for a running call. It must not where the call resumes a
    ///   Swift task: that waits for the task's lock, which the task's cancellation may hold.
    init(waits: Bool, _ handle: @escaping @Sendable (ReachabilityUpdate) -> Void) {
        self.waits = waits
        self.handle = handle
    }

    func report(_ update: ReachabilityUpdate) {
        call.withLock { _ in
            guard !isCancelled.load(ordering: .acquiring) else { return }
            caller.store(clinux_current_thread(), ordering: .relaxed)
            handle(update)
            caller.store(0, ordering: .relaxed)
        }
    }

    func cancel() {
        isCancelled.store(true, ordering: .releasing)
        // The observer itself is in a call, and has no other.
        if waits, caller.load(ordering: .relaxed) != clinux_current_thread() { call.withLock { _ in } }
    }
}

/// The facts of a path that a test has named.
struct ScriptedPath {
    let status: ReachabilityStatus
    var interface: String?
    var medium: Medium?
    var isExpensive = false
    var isConstrained = false
    var sentence: String?

    init(_ status: ReachabilityStatus) { self.status = status }

    func path(generation: UInt64) -> ReachabilityPath {
        let medium = medium ?? (status == .wifi ? .wifi : .ethernet)
        let name =
            interface ?? (medium == .wifi ? "wlan0" : medium == .cellular ? "wwan0" : "eth0")
        var reason: ReachabilityReason?
        if status == .unreachable {
            reason = ReachabilityReason(
                .linkDown, interface: name, sentence: sentence ?? "\(name): no carrier")
        }
        return ReachabilityPath(
            status: status, interface: status.isReachable ? name : nil,
            medium: status.isReachable ? medium : nil, isExpensive: isExpensive, generation: generation,
            reason: reason, isConstrained: isConstrained)
    }
}
