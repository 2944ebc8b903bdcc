// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Whether the condition has held for long enough.
package struct WaitProgress: Sendable {
    private let stable: Duration
    private var held: (since: MonotonicInstant, interface: String)?

    package init(stable: Duration) { self.stable = stable }

    /// Takes in how things are.
    ///
    /// Another interface starts the time anew, as an interruption does.
    package mutating func observe(_ match: String?, at now: MonotonicInstant) {
        guard let match else {
            held = nil
            return
        }
        if held?.interface != match { held = (now, match) }
    }

    /// When it will have held for long enough; nil while it does not hold.
    package var deadline: MonotonicInstant? { held.map { $0.since + stable } }

    /// Whether it has.
    package func isMet(at now: MonotonicInstant) -> Bool { deadline.map { $0 <= now } ?? false }
}
