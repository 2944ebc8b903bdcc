// SPDX-License-Identifier: Apache-2.0

/// A source of reachability statuses: the kernel's, a recorded one, or your own in a test.
///
/// Whatever pauses and resumes with the network takes `any ReachabilityProvider`.
public protocol ReachabilityProvider: Sendable {
    /// The status and path of this instant.
    func currentReachability() -> (status: ReachabilityStatus, path: ReachabilityPath)

    /// Calls `observer` with how things are, and then at each change, in order and never twice at a time.
    ///
    /// - Returns: The subscription. It ends when its `cancel()` is called.
    func observeReachability(
        _ observer: @escaping @Sendable (ReachabilityUpdate) -> Void
    ) -> ReachabilityObservation
}

/// A subscription to reachability updates.
///
/// Keep it to be able to end it; letting go of it changes nothing.
public struct ReachabilityObservation: Sendable {
    private let onCancel: @Sendable () -> Void

    /// A subscription that `onCancel` ends.
    public init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    /// Ends the subscription: after it returns no further call begins.
    ///
    /// Calling it again does nothing.
    ///
    /// It may be called from inside the observer, and from any thread.
    public func cancel() { onCancel() }
}
