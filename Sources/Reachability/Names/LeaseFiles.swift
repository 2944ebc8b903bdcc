// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// What DHCP clients, systemd-networkd and systemd-resolved write about a link.
package struct LeaseFiles: Sendable {
    private let files: SystemFiles

    /// - Parameter root: Where the files are: empty for `/`; a folder in a test.
    package init(root: String = "") { files = SystemFiles(root: root) }

    /// What systemd-networkd knows of a link: `DNS=`, `CAPTIVE_PORTAL=`.
    package func link(_ interface: Int32) -> LeaseFile {
        LeaseFile(files.written("/run/systemd/netif/links", "\(interface)")?.bytes ?? [])
    }

    /// What other programs than networkd, such as NetworkManager, gave systemd-resolved for a link:
    /// `SERVERS=`.
    ///
    /// systemd-resolved keeps it there for its own restart.
    package func resolved(_ interface: Int32) -> LeaseFile {
        LeaseFile(files.written("/run/systemd/resolve/netif", "\(interface)")?.bytes ?? [])
    }

    /// The address of a lease whose server said that traffic costs; nil for none.
    package func meteredAddress(of index: Int32, name: String) -> IPAddress? {
        if let lease = files.written("/run/systemd/netif/leases", "\(index)") {
            return MeteredLease.networkd(LeaseFile(lease.bytes))
        }
        guard DeviceProbe.isPlain(name) else { return nil }
        return dhcpcdLease(name).flatMap(MeteredLease.dhcpcd)
    }

    /// dhcpcd keeps a file for each Wi-Fi network: `wlan0-office.lease`, the newest of which counts.
    private func dhcpcdLease(_ name: String) -> [UInt8]? {
        // Debian's folder, and dhcpcd's own (its `--dbdir`).
        for folder in ["/var/lib/dhcpcd", "/var/db/dhcpcd"] {
            var newest = files.written(folder, "\(name).lease")
            for file in files.names(in: folder) where file.hasPrefix("\(name)-") && file.hasSuffix(".lease") {
                guard let found = files.written(folder, file), found.time > newest?.time ?? .min
                else { continue }
                newest = found
            }
            if let newest { return newest.bytes }
        }
        return nil
    }
}
