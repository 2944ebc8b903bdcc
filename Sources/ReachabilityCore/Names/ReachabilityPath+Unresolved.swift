// SPDX-License-Identifier: Apache-2.0

extension ReachabilityPath {
    /// The path to a name that has no address; nil where nothing can be said yet.
    ///
    /// Without a way out a name server cannot be asked, which is a fact; with one, a failure may pass.
    ///
    /// - Parameter general: The way out to anywhere.
    package static func unresolved(
        _ name: String, _ failure: NameFailure, general: ReachabilityPath
    ) -> ReachabilityPath? {
        if general.isOnline, case .temporary = failure { return nil }
        var path = ReachabilityPath()
        path.instantStatus = .unreachable
        path.alternative = general.alternative
        path.alternativeMedium = general.alternativeMedium
        path.isAlternativeExpensive = general.isAlternativeExpensive
        let sentence =
            general.isOnline ? failure.sentence : "cannot resolve \(name): \(general.reason.sentence)"
        path.reason = ReachabilityReason(.unresolved, interface: general.reason.interface, sentence: sentence)
        return path
    }

    /// A path of which nothing is known, for this reason.
    package static func unknown(_ reason: ReachabilityReason) -> ReachabilityPath {
        var path = ReachabilityPath()
        path.reason = reason
        return path
    }
}
