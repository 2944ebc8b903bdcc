// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import Testing

@testable import reach

/// What the doctor says of the clock, from observations.
struct ClockDiagnosisTests {
    private let url = URL(string: "https://updates.example.com/x") ?? URL(filePath: "/")

    private func exchange(_ outcome: ExchangeObservation.Outcome, ahead: Int64? = nil) -> ExchangeObservation
    {
        ExchangeObservation(outcome: outcome, clockAhead: ahead)
    }

    @Test("The clock: minutes are no matter; days are the cause of an invalid certificate")
    func clock() {
        let answered = ExchangeObservation.Outcome.answered(status: 200, location: nil)
        #expect(DiagnosisRules.clock(exchange(answered)) == nil)
        #expect(DiagnosisRules.clock(exchange(answered, ahead: -300))?.verdict == .good)
        let late = DiagnosisRules.clock(exchange(answered, ahead: -86_400 * 3))
        #expect(late?.sentence == "this machine's clock is 3 days behind")
        #expect(late?.verdict == .doubtful)
        let hour = DiagnosisRules.clock(exchange(answered, ahead: 3_700))
        #expect(hour?.sentence == "this machine's clock is an hour ahead")
    }

    /// 2027-01-01.
    private static let today: Int64 = 1_798_761_600
    private static let day: Int64 = 86_400

    /// A clock that shows `today`, and a certificate that is not valid from -1 to 1 days around that.
    private static func evidence(
        made: Int64 = -300, certificate: ClosedRange<Int64>?, server: Int64? = nil
    ) -> ClockEvidence {
        ClockEvidence(
            now: today, made: today + made * day,
            certificate: CertificateTimes(
                begins: certificate.map { today + $0.lowerBound * day },
                ends: certificate.map { today + $0.upperBound * day }),
            server: server.map { today + $0 * day })
    }

    @Test(
        "A certificate that is not valid now: is it the clock or the certificate",
        arguments: [
            // The program was built later than now, whatever time an unknown server sends.
            (evidence(made: 900, certificate: 800...1165, server: 0), .clock, .failed, ""),
            (evidence(made: 900, certificate: nil), .clock, .failed, ""),
            // By the server's clock it is valid.
            (evidence(certificate: 800...1165, server: 900), .clock, .failed, ""),
            (evidence(certificate: -400 ... -35, server: -100), .clock, .failed, ""),
            // It is not valid by that either, or both agree.
            (evidence(certificate: 800...1165, server: 0), .certificate, .good, "agrees with the server's"),
            (evidence(certificate: -400 ... -35, server: 0), .certificate, .good, "agrees with the server's"),
            (
                evidence(certificate: -400 ... -35, server: 3), .certificate, .doubtful,
                "this machine's clock is 3 days behind"
            ),
            // No server sends the time.
            (
                evidence(certificate: 800...1165), .probablyClock, .failed,
                "this machine's clock shows 2027-01-01, and the certificate is valid from 2029-03-11 on: the clock is probably behind"
            ),
            (
                evidence(certificate: -400 ... -35), .probablyCertificate, .doubtful,
                "this machine's clock shows 2027-01-01, which nothing here confirms"
            ),
            (
                evidence(certificate: nil), .probablyCertificate, .doubtful,
                "this machine's clock shows 2027-01-01, which nothing here confirms"
            ),
        ] as [(ClockEvidence, ClockEvidence.Culprit, Finding.Verdict, String)])
    func culprit(
        evidence: ClockEvidence, culprit: ClockEvidence.Culprit, verdict: Finding.Verdict, sentence: String
    ) throws {
        #expect(evidence.culprit == culprit)
        let seen = exchange(.notValidNow("the certificate is not valid", evidence))
        let findings = [DiagnosisRules.answer(seen, url: url), try #require(DiagnosisRules.clock(seen))]
        #expect(findings[1].verdict == verdict)
        #expect(sentence.isEmpty || findings[1].sentence == sentence)
        // The advice is about the cause.
        let isClock = culprit == .clock || culprit == .probablyClock
        #expect(Diagnosis(findings: findings).cause?.check == (isClock ? .clock : .answer))
        #expect(
            findings[0].sentence.hasPrefix(
                evidence.certificate.begins == nil
                    ? "the certificate is not valid" : "the certificate of updates.example.com is valid from "
            ))
        #expect(findings[0].advice.hasPrefix(isClock ? "set this machine's clock" : "have the server's"))
    }

    @Test(
        "UPL-165 what waits for the clock is told where nothing keeps it right, and not of expired certificates"
    )
    func waits() throws {
        let words = "; nothing keeps it right, and https requests wait until it is set"
        for (evidence, isReported) in [
            (Self.evidence(made: 900, certificate: 800...1165), true),
            (Self.evidence(certificate: 800...1165, server: 900), true),
            (Self.evidence(certificate: 800...1165), true),
            (Self.evidence(certificate: -400 ... -35, server: -100), false),
            (Self.evidence(certificate: 800...1165, server: 0), false),
        ] {
            for isSynchronized in [true, false] {
                var evidence = evidence
                evidence.isSynchronized = isSynchronized
                let finding = try #require(DiagnosisRules.clock(exchange(.notValidNow("", evidence))))
                #expect(
                    finding.sentence.hasSuffix(words) == (isReported && !isSynchronized),
                    "\(finding.sentence)")
            }
        }
    }
}
