// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The settings that systemd, or another service manager, has passed in the environment.
package struct ServiceManager: Sendable {
    /// The socket for notifications.
    package let notify: NotifySocket
    /// The interval in which the manager expects life signs; nil for none.
    package let watchdog: Duration?
    /// The sockets that were opened for this process, by name.
    private let sockets: [(name: String, descriptor: Int32)]

    /// The first passed descriptor (SD_LISTEN_FDS_START, sd_listen_fds(3)).
    private static let first: Int32 = 3

    /// Reads the environment; sockets for another process than `process` are ignored.
    package init(environment: (String) -> String?, process: Int32) {
        notify = NotifySocket(name: environment("NOTIFY_SOCKET").flatMap { $0.isEmpty ? nil : $0 })
        let isForUs = environment("WATCHDOG_PID").map { Int32($0) == process } ?? true
        let interval = environment("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
        watchdog = isForUs && interval > 0 && notify.isThere ? .microseconds(interval) : nil
        guard environment("LISTEN_PID").flatMap({ Int32($0) }) == process,
            let count = environment("LISTEN_FDS").flatMap({ Int32($0) }), (1...64).contains(count)
        else {
            sockets = []
            return
        }
        let names = (environment("LISTEN_FDNAMES") ?? "").split(
            separator: ":", omittingEmptySubsequences: false)
        sockets = (0..<count).map { index in
            (names.count > index ? String(names[Int(index)]) : "", Self.first + index)
        }
    }

    /// Reads and removes this process's variables, so that no child takes them; called with one thread.
    package static func consumeEnvironment() -> ServiceManager {
        let manager = ServiceManager(
            environment: { getenv($0).map { String(cString: $0) } }, process: getpid())
        for name in [
            "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
        ] { unsetenv(name) }
        setCloseOnExec()
        return manager
    }

    /// Sets close-on-exec on all inherited descriptors, the sockets included, so that no child inherits them.
    private static func setCloseOnExec() {
        guard clinux_close_on_exec_from(UInt32(first)) != 0 else { return }
        // Before Linux 5.11 one by one, as listed by proc(5).
        guard let names = opendir("/proc/self/fd") else { return }
        defer { closedir(names) }
        while let entry = readdir(names) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let number = Int32(name), number >= first { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        }
    }

    /// The descriptor of this name; if names are missing or differ, the first one for `isMain`.
    package func socket(named name: String, isMain: Bool = false) -> Int32? {
        if let known = sockets.first(where: { $0.name == name }) { return known.descriptor }
        return isMain ? sockets.first { $0.name != "metrics" }?.descriptor : nil
    }
}
