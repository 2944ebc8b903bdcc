// SPDX-License-Identifier: Apache-2.0

/// The result of one check of `reach doctor`.
struct Finding: Sendable, Equatable {
    /// The checks, each of which depends on those before it.
    enum Check: String, Sendable, CaseIterable {
        case path, proxy, name, connection, ipv4, ipv6, answer, clock, packets, uplink, cost
    }

    enum Verdict: String, Sendable {
        case good, failed, doubtful, skipped
    }

    let check: Check
    let verdict: Verdict
    /// The observation, without a full stop.
    let sentence: String
    /// The advice; for a good finding mostly empty, else a remark.
    var advice = ""
    /// Whether it is a captive portal, which blocks all other traffic.
    var isPortal = false
    /// Whether it is the cause of failures that come before it: a wrong clock of an invalid certificate, lost
    /// packets of a missing answer, a captive portal of refused connections.
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

    /// The finding that explains the others; else the first failure, else the first doubtful finding.
    ///
    /// Links beside the path in use are no cause.
    var cause: Finding? {
        let findings = findings.filter { $0.check != .uplink }
        let failed = findings.filter { $0.verdict == .failed }
        return failed.first(where: \.explainsEarlier) ?? failed.first
            ?? findings.first { $0.verdict == .doubtful }
    }

    /// The first remark of a finding that is no cause.
    var remark: Finding? {
        findings.first { ($0.verdict == .good || $0.check == .uplink) && !$0.advice.isEmpty }
    }
}
