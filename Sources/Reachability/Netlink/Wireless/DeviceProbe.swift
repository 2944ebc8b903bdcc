// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Glibc
package import ReachabilityCore

/// Reads attributes of a device outside netlink: sysfs (sysfs(5)), rfkill, the wireless extensions.
///
/// sysfs shows the namespace of its mount, so it counts only if the index there is the requested one.
package struct DeviceProbe {
    private let wireless: WirelessExtensions
    /// The directory of the interfaces in sysfs; another one in tests.
    private let root: String

    /// A probe for interfaces of `namespace`, else of the calling thread's namespace.
    package init(namespace: NamespaceEntry? = nil, root: String = "/sys/class/net") {
        wireless = WirelessExtensions(namespace: namespace)
        self.root = root
    }

    /// The attributes of the interface with this index and name.
    package func facts(of index: Int32, name: String) -> DeviceFacts {
        var facts = DeviceFacts(hasWirelessExtensions: wireless.knows(name))
        let directory = "\(root)/\(name)"
        guard Self.isPlain(name), Self.read("\(directory)/ifindex") == String(index) else { return facts }
        facts.type = Self.read("\(directory)/uevent").flatMap(Self.deviceType)
        facts.driver = Self.target("\(directory)/device/driver")
        let radio = "\(directory)/phy80211"
        facts.hasPhy80211 = access(radio, F_OK) == 0
        if facts.hasPhy80211 {
            facts.isRadioBlocked = Self.entries(of: radio).contains {
                $0.hasPrefix("rfkill") && Self.isBlocked("\(radio)/\($0)")
            }
        }
        return facts
    }

    /// The DEVTYPE line of a uevent file.
    package static func deviceType(_ uevent: String) -> String? {
        uevent.split(separator: "\n").first { $0.hasPrefix("DEVTYPE=") }
            .map { String($0.dropFirst("DEVTYPE=".count)) }
    }

    // The kernel rejects other names (dev_valid_name), and no path may be built from them.
    static func isPlain(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/"))
    }

    /// The last part of a symbolic link's target; nil if there is none.
    private static func target(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 512)
        let count = readlink(path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let text = String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text.split(separator: "/").last.map(String.init)
    }

    private static func isBlocked(_ rfkill: String) -> Bool {
        read("\(rfkill)/soft") == "1" || read("\(rfkill)/hard") == "1"
    }

    /// The text of a small file without its final newline; nil if it cannot be read.
    private static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { return nil }
        let end = count > 0 && bytes[count - 1] == UInt8(ascii: "\n") ? count - 1 : count
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    static func entries(of directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // d_name is NUL-terminated within the entry (readdir(3)).
            withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { names.append(String(cString: $0)) }
            }
        }
        return names
    }
}

/// The wireless extensions, which older drivers implement instead of nl80211 (linux/wireless.h).
final class WirelessExtensions {
    private let namespace: NamespaceEntry?
    /// A socket that selects the namespace; opened when needed.
    private var descriptor: Int32?

    init(namespace: NamespaceEntry?) { self.namespace = namespace }

    deinit { if let descriptor { close(descriptor) } }

    /// Whether the extensions know the interface (SIOCGIWNAME).
    func knows(_ name: String) -> Bool {
        guard let descriptor = descriptor ?? open() else { return false }
        self.descriptor = descriptor
        return cnetlink_answers_wext(descriptor, name) != 0
    }

    private func open() -> Int32? {
        func make() -> Int32 { socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0) }
        let descriptor: Int32? = if let namespace { try? namespace.run(make) } else { make() }
        guard let descriptor, descriptor >= 0 else { return nil }
        return descriptor
    }
}
