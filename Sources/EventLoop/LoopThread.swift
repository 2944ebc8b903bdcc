// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// A named thread with all signals blocked and a stack of the usual size, of which only touched pages cost.
package struct LoopThread: Sendable {
    private let handle: pthread_t

    private init(handle: pthread_t) { self.handle = handle }

    /// Starts a thread that runs `body` once, with signals blocked: none interrupts the loop's system calls.
    ///
    /// - Parameter name: shown by `ps -L`; Linux stores 15 bytes (PR_SET_NAME, prctl(2)).
    package static func start(
        name: String, _ body: @escaping @Sendable () -> Void
    ) throws(ReactorError) -> LoopThread {
        guard clinux_has_room_for_thread() else { throw ReactorError("pthread_create", errno: EAGAIN) }
        var everySignal = sigset_t()
        var previous = sigset_t()
        sigfillset(&everySignal)
        pthread_sigmask(SIG_SETMASK, &everySignal, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }

        let start = Unmanaged.passRetained(
            ThreadStart {
                clinux_name_thread(name)
                body()
            })
        var handle = pthread_t()
        let failure = pthread_create(
            &handle, nil,
            { argument in
                // pthread_create(3) passes on the pointer that it was given, which is never null.
                guard let argument else { return nil }
                Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, start.toOpaque())
        guard failure == 0 else {
            start.release()
            throw ReactorError("pthread_create", errno: failure)
        }
        return LoopThread(handle: handle)
    }

    /// Waits for the thread's end; exactly one of `join` and `detach` is called, once.
    package func join() { pthread_join(handle, nil) }

    /// Releases the thread's resources at its end without a `join`.
    package func detach() { pthread_detach(handle) }
}

/// The argument of a new thread.
private final class ThreadStart: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
