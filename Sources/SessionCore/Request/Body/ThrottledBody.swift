// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A body that is read in small pieces with pauses between them.
///
/// During a pause its reader answers ``BodyRead/notYet``; no thread sleeps.
public struct ThrottledBody: BodySource {
    /// What is read.
    public let source: any BodySource
    private let throttle: BodyThrottle
    private let scheduler: any BodyScheduler

    /// A body that is read more slowly.
    public init(
        _ source: any BodySource, _ throttle: BodyThrottle, scheduler: any BodyScheduler = TaskBodyScheduler()
    ) {
        self.source = source
        self.throttle = throttle
        self.scheduler = scheduler
    }

    /// The source's length.
    public var length: Int64? { source.length }
    /// Whether the source can be read again.
    public var isRewindable: Bool { source.isRewindable }

    /// A reader that starts at the first byte, without a pause.
    ///
    /// - Throws: what the source throws.
    public func makeReader() throws(SessionError) -> any BodyReader {
        ThrottledReader(try source.makeReader(), throttle, scheduler)
    }
}

private final class ThrottledReader: BodyReader {
    private let reader: any BodyReader
    private let throttle: BodyThrottle
    private let scheduler: any BodyScheduler
    private let gate = ThrottleGate()
    private var isPaused = false

    init(_ reader: any BodyReader, _ throttle: BodyThrottle, _ scheduler: any BodyScheduler) {
        self.reader = reader
        self.throttle = throttle
        self.scheduler = scheduler
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SessionError) -> BodyRead {
        isPaused = !gate.pass()
        guard !isPaused else { return .notYet }
        let count = min(buffer.count, throttle.maximumBytesPerRead)
        let read = try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
        if case .bytes = read, throttle.delay > .zero {
            gate.close()
            scheduler.schedule(after: throttle.delay) { [gate] in gate.open() }
        }
        return read
    }

    func whenReadable(_ callback: @escaping @Sendable () -> Void) {
        // Only for a read that the pause has refused: the source may have something all the while.
        if isPaused { gate.whenOpen(callback) } else { reader.whenReadable(callback) }
    }
}

/// Closed during a pause; readers that it refused are called when it opens.
private final class ThrottleGate: Sendable {
    private struct State {
        var isOpen = true
        var callback: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    func pass() -> Bool { state.withLock { $0.isOpen } }

    func close() { state.withLock { $0.isOpen = false } }

    func open() { change { $0.isOpen = true } }

    /// The pause may have ended between the answer and this: then no other call follows.
    func whenOpen(_ callback: @escaping @Sendable () -> Void) { change { $0.callback = callback } }

    private func change(_ body: (inout State) -> Void) {
        let due = state.withLock { state -> (@Sendable () -> Void)? in
            body(&state)
            guard state.isOpen else { return nil }
            defer { state.callback = nil }
            return state.callback
        }
        due?()
    }
}

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
