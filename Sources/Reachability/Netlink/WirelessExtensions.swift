// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Glibc

/// The wireless extensions, which older drivers answer instead of nl80211 (linux/wireless.h).
final class WirelessExtensions {
    private let namespace: NamespaceEntry?
    /// A socket of the namespace, by which the kernel knows whose interfaces are meant; opened when needed.
    private var descriptor: Int32?

    init(namespace: NamespaceEntry?) { self.namespace = namespace }

    deinit {
        if let descriptor { close(descriptor) }
    }

    /// Whether they know the interface of that name (SIOCGIWNAME).
    func know(_ name: String) -> Bool {
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
