// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

extension SecurityPolicy {
    /// Whether a manager with this base URL may have the policy.
    ///
    /// Pins on plain http, or on no base at all, would protect nothing while seeming to: throws
    /// ``SessionError/Code/invalidSecurityPolicy``.
    package func validate(forBaseURL base: URL?) throws(SessionError) {
        guard pinningMode != .none, base?.scheme?.lowercased() != "https" else { return }
        let address = base.map { TextQuote($0.textWithoutUser).description } ?? "none"
        throw SessionError(
            .invalidSecurityPolicy,
            "Invalid Security Policy: pinning mode \(pinningMode) needs a base URL with https; the base URL is \(address)",
            advice: "use an https base URL or pinning mode none", domain: .security, failingURL: base)
    }
}
