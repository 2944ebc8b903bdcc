// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import ReachabilityCore
package import ServiceCore

/// Notifies the service manager: readiness, the status in a sentence, life signs, reload and stop.
///
/// The last component: it sends READY=1 when the first report has reached the others.
package final class ServiceNotifier: ServiceComponent {
    package let name = "notify"
    private let manager: ServiceManager
    private var context: ServiceContext?
    private var hook: HookID?
    private var timer: TimerID?
    private var isDue = false
    private var isReady = false

    package init(_ manager: ServiceManager) { self.manager = manager }

    package func start(_ context: ServiceContext) throws(ServiceError) {
        self.context = context
        guard manager.watchdog != nil else { return }
        // A life sign proves a complete turn, at whose end the hook runs.
        hook = context.reactor.beforeWait { [weak self] in self?.turnEnded() }
        armTimer()
    }

    private func armTimer() {
        guard let context, let watchdog = manager.watchdog else { return }
        // Half of the configured time, as sd_watchdog_enabled(3) recommends.
        timer = context.reactor.schedule(at: Reactor.now + watchdog.inNanoseconds / 2) { [weak self] in
            self?.isDue = true
            self?.armTimer()
        }
    }

    private func turnEnded() {
        guard isDue else { return }
        isDue = false
        manager.notify.send("WATCHDOG=1")
    }

    package func statusChanged(_ change: CommittedChange) {
        let sentence = "STATUS=\(StatusSentence(change))"
        if isReady { return manager.notify.send(sentence) }
        isReady = true
        manager.notify.send("READY=1", sentence)
    }

    package func reload(_ configuration: ServiceConfiguration) {
        guard isReady else { return }
        // The order matters: the service manager compares the time with that of its request (sd_notify(3)).
        manager.notify.send("RELOADING=1", "MONOTONIC_USEC=\(Reactor.now / 1000)")
        manager.notify.send("READY=1")
    }

    package func stop(_ done: @escaping () -> Void) {
        manager.notify.send("STOPPING=1")
        if let hook { context?.reactor.removeHook(hook) }
        if let timer { context?.reactor.cancel(timer) }
        context = nil
        done()
    }
}

/// Sends the service's state to the service manager's socket, in datagrams (sd_notify(3)).
package struct NotifySocket: Sendable {
    private let name: String?

    /// - Parameter name: the value of `NOTIFY_SOCKET`; nil without a service manager.
    package init(name: String?) { self.name = name }

    package var isThere: Bool { name != nil }

    /// Sends lines of `KEY=value`; errors are ignored.
    package func send(_ lines: String...) {
        guard let name, let address = try? UnixAddress(name) else { return }
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, type, 0)
        guard number >= 0 else { return }
        defer { close(number) }
        let bytes = Array(lines.joined(separator: "\n").utf8)
        _ = address.with {
            Int32(truncatingIfNeeded: sendto(number, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1))
        }
    }
}
