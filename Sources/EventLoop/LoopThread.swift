// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// A thread of our own: it takes no signals, has a name, and its stack has the usual size (only touched pages cost).
package struct LoopThread: Sendable {
    private let handle: pthread_t

    private init(handle: pthread_t) { self.handle = handle }

    /// Starts a thread that runs `body` once.
    ///
    /// Every signal is blocked in it, so that handlers of the program run where the program expects them and no
    /// system call of the loop is interrupted.
    ///
    /// - Parameter name: as `ps -L` shows it; Linux keeps 15 bytes (PR_SET_NAME, prctl(2)).
    package static func start(
        name: String, _ body: @escaping @Sendable () -> Void
    ) throws(ReactorError) -> LoopThread {
        var everySignal = sigset_t()
        var previous = sigset_t()
        sigfillset(&everySignal)
        pthread_sigmask(SIG_SETMASK, &everySignal, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }

        let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
        var handle = pthread_t()
        let failure = pthread_create(
            &handle, nil,
            { argument in
                // pthread_create(3) hands over the very pointer it was given, which is never null.
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

    /// Waits for its end.
    ///
    /// Exactly one of `join` and `detach` is called, once.
    package func join() { pthread_join(handle, nil) }

    /// Lets it end on its own.
    package func detach() { pthread_detach(handle) }
}

/// What a new thread is told.
private final class ThreadStart: Sendable {
    private let name: String
    private let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    func run() {
        clinux_name_thread(name)
        body()
    }
}
