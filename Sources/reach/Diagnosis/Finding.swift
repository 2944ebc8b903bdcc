// SPDX-License-Identifier: Apache-2.0

/// What one check of `reach doctor` came to.
struct Finding: Sendable, Equatable {
    /// What is looked at, in the order in which one rests upon the other.
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
    /// Whether it explains what has failed before it as well: a captive portal lets nothing else through.
    var explainsEarlier = false

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

    /// The cause: the first thing that failed, since what comes after it rests upon it; else the first doubt.
    ///
    /// A wrong clock is behind a certificate that is not valid, lost packets behind an answer that does not come, and a captive portal
    /// behind connections that are refused.
    var cause: Finding? {
        let failed = findings.filter { $0.verdict == .failed }
        if let first = failed.first {
            if let portal = failed.first(where: \.explainsEarlier) { return portal }
            guard first.check == .answer else { return first }
            return failed.first { $0.check == .clock || $0.check == .packets } ?? first
        }
        return findings.first { $0.verdict == .doubtful }
    }

    /// What is good as far as can be seen, and might not be.
    var remark: Finding? { findings.first { $0.verdict == .good && !$0.advice.isEmpty } }
}
