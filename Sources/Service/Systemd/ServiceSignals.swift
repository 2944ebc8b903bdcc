// SPDX-License-Identifier: Apache-2.0

import CLinux
package import EventLoop
import Glibc
package import ServiceCore

/// The signals that control the service, as events of the loop (signalfd(2)).
package final class ServiceSignals {
    /// The request of a signal.
    package enum Request: Sendable, Hashable {
        case stop, reload, logState

        init?(_ signal: Int32) {
            switch signal {
            case SIGTERM, SIGINT: self = .stop
            case SIGHUP: self = .reload
            case SIGUSR1: self = .logState
            default: return nil
            }
        }
    }

    private static let handled = [SIGTERM, SIGINT, SIGHUP, SIGUSR1]
    private let reactor: Reactor
    private let descriptor: OwnedDescriptor

    /// Blocks the signals; called before any thread is started, since threads inherit the mask.
    package static func block() {
        var set = set
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        // A program that ignores it, and started this one, would leave no hook to be waited for (wait(2)).
        signal(SIGCHLD, SIG_DFL)
    }

    private static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in handled { sigaddset(&set, signal) }
        return set
    }

    /// Receives the signals on the loop's thread.
    package init(reactor: Reactor, _ body: @escaping (Request) -> Void) throws(ServiceError) {
        self.reactor = reactor
        do throws(ReactorError) {
            var set = Self.set
            descriptor = try OwnedDescriptor(
                "signalfd", signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK)))
            let number = descriptor.number
            try reactor.watch(number, for: .readable, retrying: true) { _ in
                while let request = Self.next(number) { body(request) }
            }
        } catch {
            throw ServiceError("\(error)")
        }
    }

    deinit { reactor.unwatch(descriptor.number) }

    private static func next(_ descriptor: Int32) -> Request? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard read(descriptor, &info, size) == size else { return nil }
        return Request(Int32(bitPattern: info.ssi_signo))
    }
}
