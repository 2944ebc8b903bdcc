// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

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
