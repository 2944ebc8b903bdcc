// SPDX-License-Identifier: Apache-2.0

/// How fast a body may be read: a slow uplink keeps its buffers short, and others get their turn.
public struct BodyThrottle: Sendable, Equatable {
    /// The most bytes of one read; at least 1.
    public var maximumBytesPerRead: Int
    /// The pause after each read.
    public var delay: Duration

    /// A throttle.
    public init(maximumBytesPerRead: Int, delay: Duration) {
        self.maximumBytesPerRead = max(1, maximumBytesPerRead)
        self.delay = delay
    }

    /// What AFNetworking suggests for a 3G network: 16384 bytes, 0.2 s.
    public static let suggested3G = BodyThrottle(maximumBytesPerRead: 16384, delay: .milliseconds(200))
}

/// Calls something later: the clock of a throttled body.
public protocol BodyScheduler: Sendable {
    /// Calls `action` once, on any thread, when `delay` has passed; never before it returns.
    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void)
}

/// The clock of Swift's concurrency: needs neither a main loop nor a thread that sleeps.
public struct TaskBodyScheduler: BodyScheduler {
    /// A scheduler.
    public init() {}

    /// Calls `action` from a task.
    public func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) {
        Task {
            try? await Task.sleep(for: delay)
            action()
        }
    }
}
