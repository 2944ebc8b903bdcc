// SPDX-License-Identifier: Apache-2.0

/// A source of reachability statuses: the kernel, a recording, or a test.
///
/// Components that pause and resume with the network accept `any ReachabilityProvider`.
public protocol ReachabilityProvider: Sendable {
    /// The status and path of this instant.
    func currentReachability() -> (status: ReachabilityStatus, path: ReachabilityPath)

    /// Calls `observer` with the present state, then with each change, in order and never concurrently.
    ///
    /// - Returns: The subscription; `cancel()` ends it.
    func observeReachability(
        _ observer: @escaping @Sendable (ReachabilityUpdate) -> Void
    ) -> ReachabilityObservation
}

/// A subscription to reachability updates, until `cancel()` is called; releasing it does not end it.
public struct ReachabilityObservation: Sendable {
    private let onCancel: @Sendable () -> Void

    /// A subscription whose end calls `onCancel`.
    public init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    /// Ends the subscription, from any thread and the observer too: no further call begins after it returns.
    ///
    /// It may wait for a running call of the observer on another thread. So a task whose continuation the
    /// observer resumes must not call it when it is cancelled; a manager's sequences may be used there.
    ///
    /// What the observer captures is released with the last copy of this value, not here.
    public func cancel() { onCancel() }
}
