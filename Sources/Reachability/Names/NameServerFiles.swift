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
    /// Those that systemd-networkd, or pppd, has for the link; else those of resolv.conf(5); where that only
    /// names a server on this machine, those which systemd-resolved, NetworkManager or OpenWrt's dnsmasq
    /// forward to.
    package func servers(for interface: Int32, name: String) -> [IPAddress] {
        let own = leases.link(interface).value("DNS")?.split(separator: " ").map(String.init) ?? []
        // networkd appends a server's name: 192.0.2.1#example. One with a port of its own is left out.
        let named = own.compactMap { IPAddress(String($0.prefix { $0 != "#" })) }
        if !named.isEmpty { return named }
        let system = [
            "/etc/resolv.conf", "/run/systemd/resolve/resolv.conf", "/run/NetworkManager/no-stub-resolv.conf",
        ]
        let pppd = "/etc/ppp/resolv.conf"
        for file in name.hasPrefix("ppp") ? [pppd] + system : system + [pppd] {
            let servers = Self.nameservers(files.lines(file)[...])
            if !servers.isEmpty { return servers }
        }
        // The older one is in a folder that all users may write to.
        for folder in ["/tmp/resolv.conf.d", "/tmp"] {
            guard let file = files.written(folder, "resolv.conf.auto"), file.isTrusted else { continue }
            let text = String(decoding: file.bytes, as: UTF8.self)
            let servers = Self.openWrt(text.split(separator: "\n").map(String.init), of: name)
            if !servers.isEmpty { return servers }
        }
        return []
    }

    /// The servers of netifd's file, which has its own names of interfaces: `# Interface wan`.
    ///
    /// Those below the link's name, or below the last part of it (`pppoe-wan`); else all.
    private static func openWrt(_ lines: [String], of link: String) -> [IPAddress] {
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

    private static func nameservers(_ lines: ArraySlice<String>) -> [IPAddress] {
        lines.compactMap { line in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count > 1, words[0] == "nameserver", let address = IPAddress(String(words[1])),
                !address.isLoopback
            else { return nil }
            return address
        }
    }
}
