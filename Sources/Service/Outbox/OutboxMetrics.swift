// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Outbox
import ServiceCore
import SessionManager

extension ServiceMetrics.Outbox {
    /// The numbers of an outbox with these counts.
    init(_ counts: OutboxCounts) {
        let oldest = counts.oldest.map { Duration.seconds(max(0, -$0.timeIntervalSinceNow)) } ?? .zero
        self.init(
            depth: UInt64(counts.waiting), deadLetters: UInt64(counts.dead), oldest: oldest,
            bytes: UInt64(counts.bytes))
    }
}

extension ServiceMetrics.Transfers {
    /// Counts a step of a delivery's task.
    mutating func record(_ step: TaskStep) {
        switch step {
        case .parked: parked += 1
        case .completed(nil): succeeded += 1
        // The server has answered, with more content than is stored.
        case .completed(let error?) where error.code == .dataLengthExceedsMaximum: succeeded += 1
        case .completed: failed += 1
        default: break
        }
    }
}
