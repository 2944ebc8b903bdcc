// SPDX-License-Identifier: Apache-2.0

/// What one check of `reach doctor` came to.
struct Finding: Sendable, Equatable {
    /// The checks, each of which depends on the ones before.
    enum Check: String, Sendable, CaseIterable {
        case path, proxy, name, connection, ipv4, ipv6, answer, clock, packets
    }

    enum Verdict: String, Sendable {
        case good, failed, doubtful, skipped
    }

    let check: Check
    let verdict: Verdict
    /// What was seen, without a full stop.
    let sentence: String
    /// What to try; where nothing is wrong, mostly empty, else what that does not say.
    var advice = ""
    /// Whether it is a captive portal, which lets nothing else through.
    var isPortal = false
    /// Whether it is behind what has failed before it: a wrong clock behind a certificate that is not valid,
    /// lost packets behind an answer that does not come, a captive portal behind connections that are
    /// refused.
    var explainsEarlier: Bool { isPortal || check == .clock || check == .packets }

    static func good(_ check: Check, _ sentence: String) -> Finding {
        Finding(check: check, verdict: .good, sentence: sentence)
    }

    static func failed(_ check: Check, _ sentence: String, try advice: String) -> Finding {
        Finding(check: check, verdict: .failed, sentence: sentence, advice: advice)
    }

    static func doubtful(_ check: Check, _ sentence: String, try advice: String) -> Finding {
        Finding(check: check, verdict: .doubtful, sentence: sentence, advice: advice)
    }

    static func skipped(_ check: Check, _ sentence: String) -> Finding {
        Finding(check: check, verdict: .skipped, sentence: sentence)
    }
}

/// All findings, and the one that explains the others.
struct Diagnosis: Sendable, Equatable {
    var findings: [Finding] = []

    /// The cause: what explains the others; else the first thing that failed, since what comes after it rests
    /// upon it; else the first doubt.
    var cause: Finding? {
        let failed = findings.filter { $0.verdict == .failed }
        return failed.first(where: \.explainsEarlier) ?? failed.first
            ?? findings.first { $0.verdict == .doubtful }
    }

    /// Good as far as visible.
    var remark: Finding? { findings.first { $0.verdict == .good && !$0.advice.isEmpty } }
}
