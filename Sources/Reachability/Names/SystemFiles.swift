// SPDX-License-Identifier: Apache-2.0

internal import CLinux
import Glibc
package import ReachabilityCore

/// Reads the small files in which other programs say what they know of a link.
package struct SystemFiles: Sendable {
    /// Where the files are: empty for `/`; a folder in a test.
    private let root: String

    package init(root: String = "") { self.root = root }

    /// What systemd-networkd knows of a link: `DNS=`, `CAPTIVE_PORTAL=`.
    package func link(_ interface: Int32) -> LeaseFile {
        LeaseFile(content("/run/systemd/netif/links/\(interface)"))
    }

    /// The DHCPv4 lease that systemd-networkd has for a link.
    package func lease(_ interface: Int32) -> LeaseFile {
        LeaseFile(content("/run/systemd/netif/leases/\(interface)"))
    }

    /// The beginning of a regular file, ``LeaseFile/limit`` bytes at most; empty where it cannot be read.
    package func content(_ path: String) -> [UInt8] {
        // A pipe or a device in its place must not block.
        let file = open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return [] }
        return [UInt8](unsafeUninitializedCapacity: LeaseFile.limit) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, LeaseFile.limit))
        }
    }

    /// The same as lines.
    package func lines(_ path: String) -> [String] {
        String(decoding: content(path), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
