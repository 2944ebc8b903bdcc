// SPDX-License-Identifier: Apache-2.0

extension Reactor {
    /// Returns at the deadline (`Reactor.now`); sooner, with false, if the task is cancelled or the loop
    /// ends.
    ///
    /// Takes the place of Task.sleep in a program whose tasks run on ``TaskThreads``: that needs a thread of
    /// libdispatch, and waits for ever where none can be started.
    package func sleep(until deadline: Int64) async -> Bool {
        let pending = LoopBound(PendingSleep(), to: self)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                pending.perform { $0.begin(continuation, until: deadline, on: self) }
            }
        } onCancel: {
            pending.perform { $0.cancel(on: self) }
        }
    }
}

/// A sleep of one task; used on the loop's thread.
private final class PendingSleep {
    private var continuation: CheckedContinuation<Bool, Never>?
    private var timer: TimerID?
    private var isCancelled = false

    func begin(
        _ continuation: CheckedContinuation<Bool, Never>, until deadline: Int64, on reactor: Reactor
    ) {
        guard !isCancelled, !reactor.hasEnded else { return continuation.resume(returning: false) }
        self.continuation = continuation
        let alarm = Alarm(self)
        timer = reactor.schedule(at: deadline) { alarm.sleep.end(true) }
    }

    func cancel(on reactor: Reactor) {
        isCancelled = true
        if let timer { reactor.cancel(timer) }
        end(false)
    }

    fileprivate func end(_ isWhole: Bool) {
        continuation?.resume(returning: isWhole)
        continuation = nil
        timer = nil
    }
}

/// Ends a sleep with its timer, also if that is released unfired, as by a loop that ends.
private final class Alarm {
    let sleep: PendingSleep

    init(_ sleep: PendingSleep) { self.sleep = sleep }
    deinit { sleep.end(false) }
}
