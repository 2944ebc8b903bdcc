// SPDX-License-Identifier: Apache-2.0

package import SessionCore

/// The sentence about the internet behind the uplinks, for the person who has to act; says no more than is
/// known.
///
/// "eth0: the router 192.0.2.1 answers, the line behind it does not, for 12 s; wwan0 has internet".
package enum InternetSentence {
    /// - Parameters:
    ///   - boot: the boot clock now; nil leaves out how long a state has lasted.
    ///   - transfersFollow: whether transfers follow what was found, so that the sentence tells where they
    ///     go.
    /// - Returns: nil without an uplink that something is known of.
    package static func text(
        _ uplinks: [UplinkInternet], boot: Int64? = nil, transfersFollow: Bool = false
    ) -> String? {
        let used = transfersFollow ? detour(uplinks) : nil
        let parts = uplinks.compactMap { uplink in
            part(uplink, boot).map { uplink.interface == used ? "\($0), transfers use it" : $0 }
        }
        return parts.isEmpty ? nil : SafeText.clean(parts.joined(separator: "; "), unicode: true)
    }

    /// The uplink that carries transfers while there is no internet behind the preferred one.
    private static func detour(_ uplinks: [UplinkInternet]) -> String? {
        let findings = InternetFindings(uplinks: uplinks)
        guard let line = findings.preferred, line.state.isDead else { return nil }
        return findings.best(besides: line.interface)?.interface
    }

    private static func part(_ uplink: UplinkInternet, _ boot: Int64?) -> String? {
        let name = uplink.interface
        switch uplink.state {
        case .full: return "\(name) has internet"
        case .unknown: return uplink.reason.isEmpty ? nil : "\(name) is \(uplink.reason)"
        case .none: return nil
        case .portal: return "\(name): \(portal(uplink))\(age(uplink, boot))"
        case .limited: return "\(name): \(fault(uplink))\(age(uplink, boot))"
        }
    }

    private static func portal(_ uplink: UplinkInternet) -> String {
        if let url = uplink.portalURL { return "sign in at \(url.textWithoutUser)" }
        return "sign in with a browser (\(uplink.reason))"
    }

    private static func fault(_ uplink: UplinkInternet) -> String {
        let reason = uplink.reason.isEmpty ? "no answer" : uplink.reason
        guard let router = uplink.router else { return reason }
        switch router.standing {
        case .silent: return "the router \(router.address) does not answer"
        case .answers where uplink.isSilent:
            return "the router \(router.address) answers, the line behind it does not"
        case .answers: return "the router \(router.address) answers; \(reason)"
        case .unknown: return reason
        }
    }

    /// ", for 12 s"; empty for less than a second.
    private static func age(_ uplink: UplinkInternet, _ boot: Int64?) -> String {
        guard let boot, boot &- uplink.boot >= 1_000_000_000 else { return "" }
        return ", for \(DurationText.people(.nanoseconds(boot &- uplink.boot)))"
    }
}
