// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import ReachabilityCore

/// The leases of DHCP clients, as their files say; only whether traffic costs is read from them.
///
/// Another program writes them, so a file counts only if it is short, no symbolic link, of its folder's owner
/// or root, and not open to writing by others.
package struct LeaseFiles: Sendable {
    /// Where the files are: `/` but in a test.
    private let root: String
    /// More than a message of DHCP has; a longer file is none.
    private static let limit = 16 << 10

    package init(root: String = "") { self.root = root }

    /// The address of a lease whose server said that traffic costs; nil for none.
    package func meteredAddress(of index: Int32, name: String) -> IPAddress? {
        if let bytes = read("/run/systemd/netif/leases", "\(index)")?.bytes {
            return MeteredLease.networkd(bytes)
        }
        guard DeviceProbe.isPlain(name) else { return nil }
        return dhcpcdLease(name).flatMap(MeteredLease.dhcpcd)
    }

    /// dhcpcd keeps a file for each Wi-Fi network: `wlan0-office.lease`, the newest of which counts.
    private func dhcpcdLease(_ name: String) -> [UInt8]? {
        let folder = "/var/lib/dhcpcd"
        var newest = read(folder, "\(name).lease")
        for file in DeviceProbe.entries(of: root + folder)
        where file.hasPrefix("\(name)-") && file.hasSuffix(".lease") {
            guard let found = read(folder, file), found.written > newest?.written ?? .min else { continue }
            newest = found
        }
        return newest?.bytes
    }

    /// The content of a file, and when it was written in nanoseconds since 1970; nil if it does not count.
    private func read(_ folder: String, _ file: String) -> (bytes: [UInt8], written: Int64)? {
        let descriptor = open("\(root)\(folder)/\(file)", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var (state, parent) = (stat(), stat())
        guard fstat(descriptor, &state) == 0, stat(root + folder, &parent) == 0,
            state.st_mode & S_IFMT == S_IFREG, state.st_mode & 0o022 == 0,
            state.st_uid == 0 || state.st_uid == parent.st_uid, (1...Self.limit).contains(Int(state.st_size))
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.limit)
        let count = Glibc.read(descriptor, &bytes, Self.limit)
        guard count > 0 else { return nil }
        let written = Int64(state.st_mtim.tv_sec) * 1_000_000_000 + Int64(state.st_mtim.tv_nsec)
        return (Array(bytes[..<count]), written)
    }
}
