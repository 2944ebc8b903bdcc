// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The memory limit for socket filters of a network namespace (`net.core.optmem_max`).
///
/// Since Linux 6.9 each namespace has a limit of its own, but not every such kernel gives one to an ordinary
/// user's namespace.
package enum FilterLimit {
    /// Whether a test may change it without affecting other processes.
    ///
    /// If namespaces are required (``NetworkLab/isRequired``) and made by root, the kernel's release alone
    /// decides: any other obstacle has to fail such a test, not to skip it.
    package static func isOwn() async -> Bool {
        guard isOwn(release: release) else { return false }
        if NetworkLab.isRequired, isInitialUserNamespace { return true }
        guard NetworkLab.isAvailable, let namespace = try? await NetworkNamespace() else { return false }
        return (try? await namespace.run("test", "-w", "/proc/sys/net/core/optmem_max")) != nil
    }

    /// Whether kernels of this release (uname(2)) have it for each namespace.
    package static func isOwn(release: String) -> Bool {
        let numbers = release.split(separator: ".").prefix(2).map { Int($0.prefix { $0.isWholeNumber }) ?? 0 }
        return !numbers.lexicographicallyPrecedes([6, 9])
    }

    private static var release: String {
        (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? ""
    }

    /// Whether all users of the system have their own numbers here (user_namespaces(7)).
    private static var isInitialUserNamespace: Bool {
        let map = (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8)) ?? ""
        return map.split { $0 == " " || $0 == "\n" } == ["0", "0", "4294967295"]
    }
}
