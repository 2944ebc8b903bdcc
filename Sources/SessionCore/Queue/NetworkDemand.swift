// SPDX-License-Identifier: Apache-2.0

/// What a request asks of the network, as a small number: requests with equal demands are held and let go
/// together.
package struct NetworkDemand: Sendable, Hashable {
    /// 0 to 15: condition, expense and internet; 16: no network at all.
    package let index: UInt8

    /// No network: a host on this machine, or a response that may be stored.
    package static let nothing = NetworkDemand(index: 16)
    package static let anyPath = NetworkDemand(.any)
    /// How many there are.
    package static var count: Int { 17 }

    package init(index: UInt8) { self.index = index }

    package init(_ condition: NetworkCondition, avoidsExpense: Bool = false, needsInternet: Bool = false) {
        let number: UInt8 =
            switch condition {
            case .any: 0
            case .wifiOrWired: 1
            case .wiredOnly: 2
            case .notExpensive: 3
            }
        // One demand, however it is spelt.
        let avoids = avoidsExpense && condition != .notExpensive
        index = number | (avoids ? 4 : 0) | (needsInternet ? 8 : 0)
    }

    package var condition: NetworkCondition {
        switch index & 3 {
        case 1: .wifiOrWired
        case 2: .wiredOnly
        case 3: .notExpensive
        default: .any
        }
    }

    package var needsNetwork: Bool { index < 16 }
    package var avoidsExpense: Bool { needsNetwork && (index & 4 != 0 || index & 3 == 3) }
    package var needsInternet: Bool { needsNetwork && index & 8 != 0 }
}

package struct DemandSet: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package init(_ demand: NetworkDemand) { rawValue = 1 << UInt32(demand.index) }

    package static let all = DemandSet(rawValue: 1 << UInt32(NetworkDemand.count) - 1)

    /// Whether every demand is in it.
    package var isAll: Bool { rawValue == 1 << UInt32(NetworkDemand.count) - 1 }

    package func contains(_ demand: NetworkDemand) -> Bool { rawValue & 1 << UInt32(demand.index) != 0 }

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

    /// What a network has to be, in words: "wired".
    public var description: String {
        switch self {
        case .any: "reachable"
        case .wifiOrWired: "Wi-Fi or wired"
        case .wiredOnly: "wired"
        case .notExpensive: "not expensive"
        }
    }
}
