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

    /// The folders where DHCP clients keep leases: systemd-networkd's; Debian's of dhcpcd; dhcpcd's own (its
    /// `--dbdir`).
    static let folders = ["/run/systemd/netif/leases", "/var/lib/dhcpcd", "/var/db/dhcpcd"]

    /// The address of a lease whose server said that traffic costs; nil for none.
    package func meteredAddress(of index: Int32, name: String) -> IPAddress? {
        var read: [String] = []
        return meteredAddress(of: index, name: name, read: &read)
    }

    /// - Parameter read: Gets the path of each file that was there, below the root.
    func meteredAddress(of index: Int32, name: String, read: inout [String]) -> IPAddress? {
        if let lease = written(Self.folders[0], "\(index)", &read) {
            return MeteredLease.networkd(LeaseFile(lease.bytes))
        }
        guard DeviceProbe.isPlain(name) else { return nil }
        return dhcpcdLease(name, &read).flatMap(MeteredLease.dhcpcd)
    }

    /// When a file or a folder changed last; nil where it is not there.
    func stamp(_ path: String) -> FileStamp? { files.stamp(path) }

    /// dhcpcd keeps a file for each Wi-Fi network: `wlan0-office.lease`, the newest of which counts.
    private func dhcpcdLease(_ name: String, _ read: inout [String]) -> [UInt8]? {
        for folder in Self.folders.dropFirst() {
            var newest = written(folder, "\(name).lease", &read)
            for file in files.names(in: folder) where file.hasPrefix("\(name)-") && file.hasSuffix(".lease") {
                guard let found = written(folder, file, &read), found.time > newest?.time ?? .min
                else { continue }
                newest = found
            }
            if let newest { return newest.bytes }
        }
        return nil
    }

    private func written(
        _ folder: String, _ name: String, _ read: inout [String]
    ) -> (bytes: [UInt8], time: Int64)? {
        let path = "\(folder)/\(name)"
        // Also one that counts for nothing: it may count after its next change.
        if files.stamp(path) != nil { read.append(path) }
        return files.written(folder, name).map { ($0.bytes, $0.time) }
    }
}
