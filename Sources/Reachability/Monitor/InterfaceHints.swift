// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
import Synchronization

/// What programs that dial modems say of their links; safe on every thread.
///
/// A hint ends with its link: a link of the same name that comes later has none.
package final class InterfaceHints: Sendable {
    private let hints = Mutex<[InterfaceHint]>([])
    /// More modems than a machine has.
    package static let limit = 64

    package init() {}

    /// All hints.
    package var all: [InterfaceHint] { hints.withLock { $0 } }

    /// Replaces the hint of a link; one that says nothing removes it.
    ///
    /// - Returns: false if there are too many.
    package func set(_ hint: InterfaceHint) -> Bool {
        hints.withLock { hints in
            hints.removeAll { $0.name == hint.name }
            guard hint.metered != nil || hint.isRoaming != nil else { return true }
            guard hints.count < Self.limit else { return false }
            hints.append(hint)
            return true
        }
    }

    /// The link is gone.
    func remove(_ index: Int32) { hints.withLock { $0.removeAll { $0.index == index } } }
}
