// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// Holds requests without TLS while a probe reports a captive portal.
///
/// The portal's page answers them like the server, and the request is lost. TLS detects that by itself.
enum PlainHolds {
    /// Whether requests without TLS wait; `internet` is nil without a probe.
    static func holds(_ internet: InternetState?) -> Bool {
        guard let internet else { return false }
        return switch internet {
        case .limited, .full: false
        // Not probed yet on this path: the answer comes within seconds.
        case .portal, .none, .unknown: true
        }
    }

    /// The sentence for people, if any.
    static func reason(_ internet: InternetState?) -> String? {
        internet == .portal
            ? "the network wants a sign-in (the probe says portal), and its page would take what is sent without TLS"
            : nil
    }

    /// Turns a delivery without TLS into a retry while the probe reports a portal, whose page may have
    /// answered.
    static func doubt(_ verdict: DeliveryVerdict, _ internet: InternetState?) -> DeliveryVerdict {
        guard case .delivered(let status) = verdict, internet == .portal else { return verdict }
        let message =
            "status \(status) came while the probe says portal: perhaps of the network's page to sign in"
        return .retry(OutboxFailure(.network, message, statusCode: status))
    }

    static func isPlain(_ origin: String) -> Bool { origin.hasPrefix("http:") }
}
