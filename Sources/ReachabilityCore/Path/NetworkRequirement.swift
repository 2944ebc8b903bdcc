// SPDX-License-Identifier: Apache-2.0

/// A network that is asked for, whether the kernel prefers it or not.
///
/// Its path is that of a socket bound to the link (SO_BINDTODEVICE, socket(7)).
public enum NetworkRequirement: Sendable, Hashable {
    /// The interface of this name, for example `wwan0`; it may be missing now and appear later.
    case interface(String)
    /// A link of this medium; of several with a path that with the lowest metric, then the lowest index.
    case medium(Medium)

    /// A medium, also underneath VLANs, bonds and bridges; tunnels have none.
    public enum Medium: String, Sendable, Hashable, CaseIterable {
        /// IEEE 802.11.
        case wifi
        /// Ethernet and virtual links; not PPP, which may run over a modem.
        case wired
        /// A mobile network modem: wwan, rmnet, raw IP.
        case cellular
    }

    /// The medium if the text is the word of one, else the interface of that name.
    public init(_ text: String) {
        self = Medium(rawValue: text).map { .medium($0) } ?? .interface(text)
    }
}

extension NetworkRequirement: CustomStringConvertible {
    /// The interface's name, or the medium's word.
    public var description: String {
        switch self {
        case .interface(let name): name
        case .medium(let medium): medium.rawValue
        }
    }
}

extension NetworkRequirement.Medium {
    /// Whether a link with this medium underneath is one of these.
    func fits(_ physical: PhysicalMedium) -> Bool {
        switch self {
        case .wifi: physical.isWiFi || physical.medium == .wifi
        case .cellular: physical.medium == .cellular
        case .wired: !physical.isWiFi && ![.wifi, .cellular, .other, .tunnel].contains(physical.medium)
        }
    }
}
