// SPDX-License-Identifier: Apache-2.0

import Glibc
import ReachabilityCore

/// The name servers that a link has, as the files of the system say.
package struct NameServerFiles: Sendable {
    private let files: SystemFiles
    private let leases: LeaseFiles

    /// - Parameter root: Where the files are: empty for `/`; a folder in a test.
    package init(root: String = "") {
        files = SystemFiles(root: root)
        leases = LeaseFiles(root: root)
    }

    /// The servers to be asked over a link, the best first.
    ///
    /// Those that systemd-networkd has for the link, that NetworkManager or another program gave
    /// systemd-resolved for it, or pppd's; else those of resolv.conf(5); where that only names a server on
    /// this machine, those which systemd-resolved, NetworkManager or OpenWrt's dnsmasq forward to. A server
    /// that belongs to another link (`fe80::1%eth0`) is left out.
    package func servers(for interface: Int32, name: String) -> [NameServer] {
        candidates(interface, name) { servers in
            servers.filter { !$0.address.isLoopback && $0.isReached(over: name, interface) }
        }
    }

    private func candidates(
        _ interface: Int32, _ name: String, _ usable: ([NameServer]) -> [NameServer]
    ) -> [NameServer] {
        for own in [leases.link(interface).value("DNS"), leases.resolved(interface).value("SERVERS")] {
            let servers = usable(own?.split(separator: " ").compactMap { NameServer($0) } ?? [])
            if !servers.isEmpty { return servers }
        }
        let system = [
            "/etc/resolv.conf", "/run/systemd/resolve/resolv.conf", "/run/NetworkManager/no-stub-resolv.conf",
        ]
        let pppd = "/etc/ppp/resolv.conf"
        for file in name.hasPrefix("ppp") ? [pppd] + system : system + [pppd] {
            let servers = usable(Self.nameservers(files.lines(file)[...]))
            if !servers.isEmpty { return servers }
        }
        // The older one is in a folder that all users may write to.
        for folder in ["/tmp/resolv.conf.d", "/tmp"] {
            guard let file = files.written(folder, "resolv.conf.auto"), file.isTrusted else { continue }
            let text = String(decoding: file.bytes, as: UTF8.self)
            let servers = usable(Self.openWrt(text.split(separator: "\n").map(String.init), of: name))
            if !servers.isEmpty { return servers }
        }
        return []
    }

    /// The servers of netifd's file, which has its own names of interfaces: `# Interface wan`.
    ///
    /// Those below the link's name, or below the last part of it (`pppoe-wan`); else all.
    private static func openWrt(_ lines: [String], of link: String) -> [NameServer] {
        let heads = lines.indices.filter { lines[$0].hasPrefix("# Interface ") }
        let own = heads.first { head in
            let name = lines[head].dropFirst("# Interface ".utf8.count)
            return !name.isEmpty && (link == name || link.hasSuffix("-\(name)"))
        }
        guard let own else { return nameservers(lines[...]) }
        let end = heads.first { $0 > own } ?? lines.endIndex
        let servers = nameservers(lines[own..<end])
        return servers.isEmpty ? nameservers(lines[...]) : servers
    }

    /// Whether hosts(5) has a name, in lower case.
    package func hasHost(_ name: String) -> Bool {
        files.lines("/etc/hosts").contains { line in
            line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }.dropFirst()
                .contains { $0.lowercased() == name }
        }
    }

    private static func nameservers(_ lines: ArraySlice<String>) -> [NameServer] {
        lines.compactMap { line in
            let words = line.split { $0 == " " || $0 == "\t" }
            return words.count > 1 && words[0] == "nameserver" ? NameServer(words[1]) : nil
        }
    }
}
