// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import FoundationEssentials
import ReachabilityCore
import SessionCore

/// What the parts of an engine have it do; called on the loop's thread.
protocol TransferControl: AnyObject {
    /// Resumes the content after a sink was full, or the body after its source had nothing.
    func resume(_ transfer: Transfer)
    func fail(_ transfer: Transfer, _ error: SessionError)
    /// A transfer has a connection for which others of its origin wait; called inside libcurl.
    func connected(_ transfer: Transfer)
    /// Connects to the server of a request over an interface, and sends nothing.
    ///
    /// - Parameters:
    ///   - peer: the address of the server; nil for the one that answered last.
    ///   - onEnd: whether the server was reached.
    func tryServer(
        of request: SessionRequest, at peer: PeerAddress?, over interface: String,
        onEnd: @escaping (Bool) -> Void
    ) -> Transfer
    /// The host of a transfer that name servers are asked about; nil for an address, for a name that only the
    /// system knows, behind a proxy, and where the request names its interface.
    func hostToLookUp(of transfer: Transfer) -> String?
    /// Connects to these addresses of a URL's host for a while, without looking it up.
    func use(_ addresses: [IPAddress], of url: URL)
    /// Ends a transfer without a call of its delegate.
    func cancel(_ transfer: Transfer)
}

/// Keeps calls to libcurl out of libcurl's callbacks, and gathers what waits for the end of a turn; on the
/// loop's thread.
///
/// libcurl must not be called inside its own callbacks (libcurl-multi(3)): work that a callback asks for
/// waits until libcurl has returned.
package final class EngineTurn {
    package let reactor: Reactor
    package let clock = LoopClock()
    /// The engine, which owns this object and ends with ``close()``; unowned, since a weak reference slows
    /// every count of the engine's references.
    unowned var control: (any TransferControl)?
    /// What carries the transfers out; unowned for the same reason.
    package unowned var carrier: (any TransferCarrier)?
    /// Whether any multi handle wants to be called at once: other turns look at no pool.
    var isDue = false
    /// Whether any multi handle may have finished transfers.
    var mayHaveFinished = false
    private var isInsideLibcurl = false
    private var isClosed = false
    private var deferred: [() -> Void] = []
    private var slice = TimeSlice()
    /// Swift tasks that wait for session tasks which have ended in this turn.
    private var waiters: [UnsafeContinuation<Void, Never>] = []

    package init(reactor: Reactor) { self.reactor = reactor }

    /// Runs `body`, which calls libcurl, or what it would call back.
    package func callLibcurl(_ body: () -> Void) {
        let before = isInsideLibcurl
        isInsideLibcurl = true
        body()
        isInsideLibcurl = before
    }

    /// Runs `work` now, or when libcurl has returned.
    package func outsideLibcurl(_ work: @escaping () -> Void) {
        if isInsideLibcurl { later(work) } else { work() }
    }

    /// Runs `work` before the loop waits.
    package func later(_ work: @escaping () -> Void) { deferred.append(work) }

    /// Runs the deferred work; false where there was none.
    package func runDeferred() -> Bool {
        guard !deferred.isEmpty else { return false }
        let work = deferred
        deferred.removeAll(keepingCapacity: true)
        for item in work { item() }
        return true
    }

    /// Drops the deferred work, which may hold the engine.
    package func close() {
        isClosed = true
        (control, carrier) = (nil, nil)
        deferred = []
        resumeWaiters()
    }

    /// Whether libcurl's current call has taken its time, and the next bytes have to wait for another turn;
    /// the transfer is resumed then.
    func postpones(_ transfer: Transfer, before count: Int) -> Bool {
        guard slice.isOver(before: count, since: clock.now) else { return false }
        resume(transfer, at: clock.now)
        return true
    }

    /// Resumes a transfer at an instant, unless it has ended by then.
    func resume(_ transfer: Transfer, at instant: Int64) {
        _ = reactor.schedule(at: instant) { [weak transfer, weak self] in
            if let transfer, transfer.isUnderWay { self?.carrier?.resume(transfer) }
        }
    }

    func fail(_ transfer: Transfer, _ error: SessionError) { carrier?.fail(transfer, error) }

    /// Resumes a continuation when the ends of this turn are all known: its task finds them together.
    func resumeLater(_ waiter: UnsafeContinuation<Void, Never>) {
        if isClosed || reactor.hasEnded { waiter.resume() } else { waiters.append(waiter) }
    }

    package func resumeWaiters() {
        guard !waiters.isEmpty else { return }
        var woken: [UnsafeContinuation<Void, Never>] = []
        swap(&woken, &waiters)
        for waiter in woken { waiter.resume() }
        // One by one: they are few, and `removeAll(keepingCapacity:)` is much code for that.
        while !woken.isEmpty { woken.removeLast() }
        if waiters.isEmpty { waiters = woken }
    }
}

/// The time when the loop last had something to do, which is near enough for limits of whole seconds.
///
/// Reading it costs nothing, and every line of a head reads it.
package final class LoopClock {
    /// The memory of the time, for readers in C.
    let address: UnsafeMutablePointer<Int64>

    init() {
        address = .allocate(capacity: 1)
        address.initialize(to: Reactor.now)
    }

    deinit { address.deallocate() }

    /// Nanoseconds of the monotonic clock.
    package var now: Int64 { address.pointee }

    package func update() { address.pointee = Reactor.now }
}

/// How long one call of libcurl may take in content before the loop has its turn.
///
/// libcurl (7.87 and later, `readwrite_data`) reads on within one call for as long as the socket has more.
/// Where the disk is slower than the network the call would not return, and hold up time limits, cancellation
/// and events of the network.
private struct TimeSlice {
    /// 50 ms: long enough for content at the speed of memory, too short to be noticed.
    private static let nanoseconds: Int64 = 50_000_000
    /// The clock is read once for so many bytes.
    private static let stride = 256 << 10
    /// Bytes since it was read.
    private var count = 0

    /// Whether the next bytes have to wait.
    ///
    /// - Parameter start: when libcurl was called.
    mutating func isOver(before bytes: Int, since start: Int64) -> Bool {
        count += bytes
        guard count >= Self.stride else { return false }
        count = 0
        return Reactor.now &- start > Self.nanoseconds
    }
}

extension Duration {
    /// Whole nanoseconds, bounded to 146 years either way, so that an instant can be added to them.
    var nanoseconds: Int64 { min(max(inNanoseconds, .min / 2), .max / 2) }

    /// Whole milliseconds, rounded up: a limit that is set never becomes none.
    var milliseconds: Int { Int(clamping: (nanoseconds &+ 999_999) / 1_000_000) }
}
