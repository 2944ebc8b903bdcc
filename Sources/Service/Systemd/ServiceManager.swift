// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// What systemd, or another manager of services, has handed to this process by its environment.
package struct ServiceManager: Sendable {
    /// The socket for notifications.
    package let notify: NotifySocket
    /// How often the manager wants to hear from the loop; nil where it does not.
    package let watchdog: Duration?
    /// The sockets that were opened for this process, by name.
    private let sockets: [(name: String, descriptor: Int32)]

    /// The first descriptor that is handed over (SD_LISTEN_FDS_START, sd_listen_fds(3)).
    private static let first: Int32 = 3

    /// Reads the environment.
    ///
    /// - Parameters:
    ///   - environment: The value of a variable.
    ///   - process: the ID of this process: descriptors for another one are ignored.
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

    /// Reads the environment of this process and takes the variables away, so that no child believes they are
    /// its own.
    ///
    /// To be called while there is one thread.
    package static func take() -> ServiceManager {
        let manager = ServiceManager(
            environment: { getenv($0).map { String(cString: $0) } }, process: getpid())
        for name in [
            "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
        ] { unsetenv(name) }
        keepDescriptors()
        return manager
    }

    /// Has no program that is started from here inherit what this one has inherited, the sockets among it.
    private static func keepDescriptors() {
        guard clinux_close_on_exec_from(UInt32(first)) != 0 else { return }
        // Before Linux 5.11 one by one, as proc(5) names them.
        guard let names = opendir("/proc/self/fd") else { return }
        defer { closedir(names) }
        while let entry = readdir(names) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let number = Int32(name), number >= first { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        }
    }

    /// The descriptor of this name; without names or with other names, the first one when `isMain`.
    package func socket(named name: String, isMain: Bool = false) -> Int32? {
        if let known = sockets.first(where: { $0.name == name }) { return known.descriptor }
        return isMain ? sockets.first { $0.name != "metrics" }?.descriptor : nil
    }
}
