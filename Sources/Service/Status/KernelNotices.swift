// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

/// Records events that need not lead to an update: a link without a path came or went.
package final class KernelNotices {
    /// Called after each batch of events.
    var noticed: (() -> Void)?
    /// How many batches there were.
    private(set) var count: UInt64 = 0

    package init() {}

    func record(_ item: RecordedItem) {
        guard case .events = item else { return }
        count += 1
        noticed?()
    }
}
