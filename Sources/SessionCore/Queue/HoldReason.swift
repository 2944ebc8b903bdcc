// SPDX-License-Identifier: Apache-2.0

/// Why a task that was resumed does not run.
///
/// Several can hold at a time, and each ends by itself: ending a user's pause does
/// not bring the network back.
public enum HoldReason: Sendable, Hashable {
    /// The queue was paused, or the task was suspended.
    case user
    /// There is no usable path; the sentence says why, for example "eth0: no carrier".
    case network(String)
    /// There is a path, and not one that the task may use.
    case condition(NetworkCondition)
    /// There is a path, and the internet was not found behind it.
    case internet
    /// The server's certificate is not valid by this machine's clock, which nothing keeps right.
    case clock
    /// The path has come back a moment ago and has to last, or others start before it.
    case settling
    /// Tasks that it depends on have not completed.
    case dependency
    /// Another task of its lane runs, or comes before it.
    case lane
    /// As many run as may run, in all or with this host.
    case turn
}

extension HoldReason: CustomStringConvertible {
    /// A few words for a person, without a full stop: "waiting for network (eth0: no carrier)".
    public var description: String {
        switch self {
        case .user: "paused"
        case .network(let sentence):
            sentence.isEmpty ? "waiting for network" : "waiting for network (\(sentence))"
        case .condition(let condition): "waiting for a network that is \(condition)"
        case .internet: "waiting for the internet"
        case .clock: "waiting for the clock to be set"
        case .settling: "waiting until the network is steady"
        case .dependency: "waiting for another task"
        case .lane: "waiting for its lane"
        case .turn: "waiting for its turn"
        }
    }
}
