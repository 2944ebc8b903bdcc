// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore

/// A connection whose transfers have been silent, and the keepalive probes that it sends.
struct SilentConnection {
    private static let longestKeepalive: Int32 = 30
    private static let second: Int64 = 1_000_000_000
    /// How long after a probe is due its answer is looked for: 250 ms.
    private static let answerTime: Int64 = 250_000_000

    /// Seconds before its next keepalive probe; nil where libcurl's still hold.
    private(set) var keepalive: Int32?
    /// When that was set.
    private var keepaliveSet: Int64 = 0
    /// Whether the pauses begin anew.
    private var isDue = false
    /// When a probe was first seen without an answer.
    private var probeSeen: Int64?

    /// Adds what one look alone does not show.
    mutating func complete(_ health: inout ConnectionHealth, at now: Int64) {
        guard health.probes > 0 else {
            probeSeen = nil
            return
        }
        // One that was answered meanwhile was another one.
        if let seen = probeSeen, now &- health.sinceAcknowledgement > seen { probeSeen = nil }
        let seen = probeSeen ?? now
        probeSeen = seen
        health.sinceProbe = now &- seen
    }

    /// Has the pauses begin anew: its line may be dead.
    mutating func restart() { isDue = true }

    /// Has it send keepalive probes, each pause twice the one before; returns when to look again.
    mutating func probe(_ connection: TCPConnection, _ health: ConnectionHealth, _ now: Int64) -> Int64 {
        if let keepalive, !isDue {
            if now &- keepaliveSet > Int64(keepalive) &* Self.second &+ Self.second / 2 {
                self.keepalive = min(keepalive * 2, Self.longestKeepalive)
                keepaliveSet = now
                connection.probe(after: self.keepalive ?? 1)
            }
        } else {
            isDue = false
            keepalive = 1
            keepaliveSet = now
            connection.probe(after: 1)
        }
        let idle = Int64(keepalive ?? 1) &* Self.second
        return now &+ max(Self.answerTime, idle &- health.sinceAcknowledgement &+ Self.answerTime)
    }
}
