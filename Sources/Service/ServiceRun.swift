// SPDX-License-Identifier: Apache-2.0

import CLinux
package import EventLoop
import Glibc
package import ServiceCore
import Synchronization

/// The main thread's part: makes the service on the loop's thread and sleeps until its end.
package enum ServiceRun {
    /// Runs a service, made on the loop's thread, until SIGTERM or SIGINT.
    ///
    /// ``ServiceSignals/block()`` must have been called, before any other thread was started.
    package static func run(
        on reactor: Reactor, _ make: @escaping @Sendable () throws(ServiceError) -> Service
    ) throws(ServiceError) {
        let end = End()
        reactor.perform {
            do throws(ServiceError) {
                let service = try make()
                let signals = try ServiceSignals(reactor: reactor) { request in
                    switch request {
                    case .stop: service.stop()
                    case .reload: service.reload()
                    case .logState: service.logState()
                    }
                }
                var failure: ServiceError?
                do throws(ServiceError) { try service.start() } catch { failure = error }
                service.whenEnded { [failure] in
                    withExtendedLifetime(signals) {}
                    end.set(failure)
                }
            } catch {
                end.set(error)
            }
        }
        if let error = end.wait() { throw error }
    }

    /// The reason for the end, passed from the loop's thread to the main thread.
    private final class End: Sendable {
        private let bell = eventfd(0, Int32(EFD_CLOEXEC))
        private let error = Mutex<ServiceError?>(nil)

        deinit { close(bell) }

        func set(_ error: ServiceError?) {
            self.error.withLock { $0 = $0 ?? error }
            var one: UInt64 = 1
            _ = write(bell, &one, 8)
        }

        func wait() -> ServiceError? {
            var count: UInt64 = 0
            while read(bell, &count, 8) < 0, errno == EINTR {}
            return error.withLock { $0 }
        }
    }
}
