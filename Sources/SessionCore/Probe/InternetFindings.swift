// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// What a probe has found: behind the path in use, and behind each uplink.
package struct InternetFindings: Sendable, Equatable {
    /// The state behind the path in use.
    package var state = InternetState.unknown
    /// Where to sign in, behind that path.
    package var portalURL: URL?
    /// The uplinks, the preferred one first.
    package var uplinks: [UplinkInternet] = []

    package init(_ state: InternetState = .unknown, portalURL: URL? = nil, uplinks: [UplinkInternet] = []) {
        self.state = state
        self.portalURL = portalURL
        self.uplinks = uplinks
    }

    /// ``portalURL`` as text.
    package var portal: String? { portalURL?.absoluteString }

    /// Whether something else was found: the evidence alone is no change.
    package func differs(from other: InternetFindings) -> Bool {
        state != other.state || portalURL != other.portalURL || uplinks.count != other.uplinks.count
            || zip(uplinks, other.uplinks).contains { $0.differs(from: $1) }
    }

    /// Whether each uplink has been asked, or is not to be.
    package var isComplete: Bool {
        state != .unknown && uplinks.allSatisfy { $0.state != .unknown || !$0.reason.isEmpty }
    }

    /// The uplinks whose state is another than in former findings; those that are not known yet are left out.
    package func changes(since former: InternetFindings?) -> [UplinkInternet] {
        uplinks.filter { uplink in
            let before = former?.uplinks.first { $0.interface == uplink.interface }
            guard let before else { return uplink.state != .unknown }
            return before.state != uplink.state || before.portalURL != uplink.portalURL
        }
    }
}
