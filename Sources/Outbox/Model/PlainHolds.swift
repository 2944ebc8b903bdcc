// SPDX-License-Identifier: Apache-2.0

package import SessionCore

/// What a probe of the network means for requests without TLS.
///
/// The page of a network that wants a sign-in answers them like the server, and what it takes is gone. TLS tells the two apart by itself.
package enum PlainHolds {
    /// Whether requests without TLS wait; `internet` is nil where no probe is asked.
    package static func holds(_ internet: InternetState?) -> Bool {
        guard let internet else { return false }
        return switch internet {
        case .limited, .full: false
        // Not asked yet on this path: the answer comes in seconds.
        case .portal, .none, .unknown: true
        }
    }

    /// What to tell about it; nil where it is nothing to tell.
    package static func reason(_ internet: InternetState?) -> String? {
        internet == .portal
            ? "the network wants a sign-in (the probe says portal), and its page would take what is sent without TLS"
            : nil
    }

    /// What a delivery without TLS counts as that came back while the probe says portal: the page may have taken it.
    package static func doubt(_ verdict: DeliveryVerdict, _ internet: InternetState?) -> DeliveryVerdict {
        guard case .delivered(let status) = verdict, internet == .portal else { return verdict }
        let message =
            "status \(status) came while the probe says portal: perhaps of the network's page to sign in"
        return .retry(OutboxFailure(.network, message, statusCode: status))
    }

    /// Whether an origin is one without TLS.
    package static func isPlain(_ origin: String) -> Bool { origin.hasPrefix("http:") }
}
