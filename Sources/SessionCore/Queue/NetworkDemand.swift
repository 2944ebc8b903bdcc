// SPDX-License-Identifier: Apache-2.0

/// What a request asks of the network, as a small number: requests with equal demands are held and let go
/// together.
package struct NetworkDemand: Sendable, Hashable {
    /// The lowest two bits are the medium, the others what else must hold; medium 3 is no network at all.
    package let index: UInt8

    private static let expense: UInt8 = 4
    private static let constraint: UInt8 = 8
    private static let internet: UInt8 = 16
    private static let clock: UInt8 = 32

    /// No network: a host on this machine, or a response that may be stored.
    package static let nothing = NetworkDemand(index: 3)
    package static let anyPath = NetworkDemand(.any)
    /// How many there are.
    package static var count: Int { 64 }

    package init(index: UInt8) { self.index = index }

    /// - Parameter needsClock: whether the clock has to be right, for a certificate that a wrong one refused.
    package init(
        _ condition: NetworkCondition, avoidsExpense: Bool = false, avoidsConstraint: Bool = false,
        needsInternet: Bool = false, needsClock: Bool = false
    ) {
        let medium: UInt8 =
            switch condition {
            case .wifiOrWired: 1
            case .wiredOnly: 2
            case .any, .notExpensive, .notConstrained, .internet: 0
            }
        // One demand, however it is spelt.
        index =
            medium | (avoidsExpense || condition == .notExpensive ? Self.expense : 0)
            | (avoidsConstraint || condition == .notConstrained ? Self.constraint : 0)
            | (needsInternet || condition == .internet ? Self.internet : 0)
            | (needsClock ? Self.clock : 0)
    }

    /// What the medium has to be.
    package var medium: NetworkCondition {
        switch index & 3 {
        case 1: .wifiOrWired
        case 2: .wiredOnly
        default: .any
        }
    }

    package var needsNetwork: Bool { index & 3 != 3 }
    package var avoidsExpense: Bool { needsNetwork && index & Self.expense != 0 }
    package var avoidsConstraint: Bool { needsNetwork && index & Self.constraint != 0 }
    package var needsInternet: Bool { needsNetwork && index & Self.internet != 0 }
    package var needsClock: Bool { needsNetwork && index & Self.clock != 0 }
}

package struct DemandSet: OptionSet, Sendable, Hashable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package init(_ demand: NetworkDemand) { rawValue = 1 << UInt64(demand.index) }

    package static let all = DemandSet(rawValue: .max)
    /// Those with ``NetworkDemand/needsClock``.
    static let needingClock = DemandSet(rawValue: 0x7777_7777_0000_0000)

    /// Those with a need of the internet.
    static let needingInternet = DemandSet(rawValue: 0x7777_0000_7777_0000)

    /// Whether every demand is in it.
    package var isAll: Bool { rawValue == .max }

    package func contains(_ demand: NetworkDemand) -> Bool { rawValue & 1 << UInt64(demand.index) != 0 }

    /// Calls back with each, in the order of their numbers.
    package func forEach(_ body: (NetworkDemand) -> Void) {
        var rest = rawValue
        while rest != 0 {
            body(NetworkDemand(index: UInt8(rest.trailingZeroBitCount)))
            rest &= rest - 1
        }
    }
}

/// Which networks a task may use.
///
/// Asked again at each change of the path: a task whose network no longer fits still waits, or pauses.
public enum NetworkCondition: String, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// Every path.
    case any
    /// A path that Wi-Fi or Ethernet carries: not a modem, not a serial line.
    case wifiOrWired
    /// A path that a wire carries: Ethernet, or what is built on it.
    case wiredOnly
    /// A path that costs neither money nor quota.
    case notExpensive
    /// A path on which data is not to be saved: no low data switch is on for its interface.
    case notConstrained
    /// A path behind which the internet was found; every path where nothing looks for it.
    case internet

    /// What a network has to be, in words: "wired".
    public var description: String {
        switch self {
        case .any: "reachable"
        case .wifiOrWired: "Wi-Fi or wired"
        case .wiredOnly: "wired"
        case .notExpensive: "not expensive"
        case .notConstrained: "not constrained"
        case .internet: "connected to the internet"
        }
    }
}
