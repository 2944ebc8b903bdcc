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
    /// Those that systemd-networkd has for the link; else those of resolv.conf(5); where that only names a
    /// server on this machine, those which systemd-resolved or NetworkManager forward to.
    package func servers(for interface: Int32) -> [IPAddress] {
        let own = leases.link(interface).value("DNS")?.split(separator: " ").map(String.init) ?? []
        // networkd appends a server's name: 192.0.2.1#example. One with a port of its own is left out.
        let named = own.compactMap { IPAddress(String($0.prefix { $0 != "#" })) }
        if !named.isEmpty { return named }
        let candidates = [
            "/etc/resolv.conf", "/run/systemd/resolve/resolv.conf", "/run/NetworkManager/no-stub-resolv.conf",
        ]
        for file in candidates {
            let servers = nameservers(file)
            if !servers.isEmpty { return servers }
        }
        return []
    }

    /// Whether hosts(5) has a name, in lower case.
    package func hasHost(_ name: String) -> Bool {
        files.lines("/etc/hosts").contains { line in
            line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }.dropFirst()
                .contains { $0.lowercased() == name }
        }
    }

    private func nameservers(_ file: String) -> [IPAddress] {
        files.lines(file).compactMap { line in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count > 1, words[0] == "nameserver", let address = IPAddress(String(words[1])),
                !address.isLoopback
            else { return nil }
            return address
        }
    }
}
