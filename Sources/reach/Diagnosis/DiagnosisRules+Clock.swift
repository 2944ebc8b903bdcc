// SPDX-License-Identifier: Apache-2.0

import Reachability
import ServiceCore

// Judges this machine's clock, and whether a certificate is invalid because of it.
extension DiagnosisRules {
    static func clock(_ seen: ExchangeObservation) -> Finding? {
        if case .notValidNow(_, let evidence) = seen.outcome { return clock(evidence) }
        guard let ahead = seen.clockAhead else { return nil }
        guard abs(ahead) > ClockEvidence.tolerance else { return agrees }
        return .doubtful(.clock, distance(ahead), try: settingIt)
    }

    private static func clock(_ evidence: ClockEvidence) -> Finding {
        let shows = "this machine's clock shows \(day(evidence.now))"
        let ahead = evidence.server.map { evidence.now - $0 }
        let waits =
            evidence.holdsRequests ? "; nothing keeps it right, and https requests wait until it is set" : ""
        switch evidence.culprit {
        case .clock:
            if let ahead, abs(ahead) > ClockEvidence.tolerance {
                return .failed(
                    .clock, "\(distance(ahead)): by the server's, the certificate is valid\(waits)",
                    try: settingIt)
            }
            return .failed(
                .clock, "\(shows), and this program was made after that, about \(day(evidence.made))\(waits)",
                try: settingIt)
        case .probablyClock:
            let since = evidence.certificate.begins.map(day) ?? "later"
            return .failed(
                .clock,
                "\(shows), and the certificate is valid from \(since) on: the clock is probably behind\(waits)",
                try: settingIt)
        case .authority, .certificate:
            guard let ahead, abs(ahead) > ClockEvidence.tolerance else { return agrees }
            return .doubtful(.clock, distance(ahead), try: settingIt)
        case .probablyCertificate:
            return .doubtful(.clock, "\(shows), which nothing here confirms", try: settingIt)
        }
    }

    /// The advice for a certificate that is not valid at this time.
    static func advice(for evidence: ClockEvidence) -> String {
        switch evidence.culprit {
        case .clock, .probablyClock: "set this machine's clock; the certificate is not to blame"
        case .authority:
            "put the authority's current certificate where this machine finds it (--cacert, or ca-certificates); the server's own is valid"
        case .certificate: "have the server's certificate renewed; this machine's clock is not to blame"
        case .probablyCertificate:
            "have the server's certificate renewed, unless it is another day than \(day(evidence.now))"
        }
    }

    /// The fault of a certificate that is not valid at this time; `words` is TLS's message about it.
    static func sentence(_ words: String, _ evidence: ClockEvidence, host: String) -> String {
        guard let begins = evidence.certificate.begins, let ends = evidence.certificate.ends
        else { return words }
        return
            "the certificate of \(host) is valid from \(day(begins)) to \(day(ends)), and not on \(day(evidence.now))"
    }

    private static let agrees = Finding.good(.clock, "agrees with the server's")
    private static let settingIt =
        "set it: timedatectl set-ntp true, or date --set; certificates are judged by it"

    private static func distance(_ ahead: Int64) -> String {
        "this machine's clock is \(span(abs(ahead))) \(ahead > 0 ? "ahead" : "behind")"
    }

    /// "2026-01-02".
    private static func day(_ seconds: Int64) -> String { String(WallTime(seconds: seconds).text.prefix(10)) }

    /// "3 days", "2 hours", "12 minutes".
    private static func span(_ seconds: Int64) -> String {
        for (unit, length) in [("year", 31_556_952), ("day", 86_400), ("hour", 3600)] as [(String, Int64)]
        where seconds >= length {
            return seconds < 2 * length
                ? "a\(unit == "hour" ? "n" : "") \(unit)" : "\(seconds / length) \(unit)s"
        }
        return "\(seconds / 60) minutes"
    }
}
