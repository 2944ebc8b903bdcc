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

extension ReachabilityManager {
    /// What became of a hint.
    package enum HintOutcome: Sendable, Equatable {
        case taken, noSuchInterface
        /// There are ``InterfaceHints/limit`` already, or this manager takes none.
        case tooMany
    }

    /// Replaces what the program that dials says of a link, and returns after the evaluation that follows.
    ///
    /// - Parameters:
    ///   - metered: nil says nothing; a hint that says nothing at all is removed.
    ///   - isRoaming: nil says nothing.
    /// - Throws: if the kernel cannot be asked for the link.
    package func setHint(
        of name: String, metered: Metered?, isRoaming: Bool?
    ) throws(ReachabilityError) -> HintOutcome {
        guard let own = LinkName(exactly: name) else { return .noSuchInterface }
        let kernel = try environment.makeKernel(configuration)
        guard case .link(let link)? = try kernel.answers(to: [.linkNamed(own)]).first else {
            return .noSuchInterface
        }
        let hint = InterfaceHint(name: name, index: link.index, metered: metered, isRoaming: isRoaming)
        guard environment.hints?.set(hint) == true else { return .tooMany }
        reevaluateAndWait()
        return .taken
    }

    /// The rules for what traffic costs, with the present hints.
    package var costs: MeteredRules {
        var costs = MeteredRules(configuration)
        costs.hints = environment.hints?.all ?? []
        return costs
    }
}
