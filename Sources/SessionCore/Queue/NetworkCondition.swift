// SPDX-License-Identifier: Apache-2.0

/// Which networks a task may use.
///
/// Asked again at each change of the path: a task whose network no longer fits goes on waiting, or pauses.
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
