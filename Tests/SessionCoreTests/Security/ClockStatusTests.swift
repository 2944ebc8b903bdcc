// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

struct ClockStatusTests {
    /// 1970, 2026 and 2099.
    private static let (past, present, future) = (Int64(40), Int64(1_795_000_000), Int64(4_080_000_000))

    @Test(
        "UPL-150 a wrong clock explains a certificate that is not valid yet, and an expired one where it is ahead",
        arguments: [
            (SessionError.Code.certificateNotYetValid, false, past, true),
            (.certificateNotYetValid, false, present, true), (.certificateNotYetValid, true, past, false),
            (.certificateHasBadDate, false, past, false), (.certificateHasBadDate, false, present, false),
            (.certificateHasBadDate, false, future, true), (.certificateHasBadDate, true, future, false),
            (.certificateUntrusted, false, past, false), (.certificateHasUnknownRoot, false, past, false),
            (.secureConnectionFailed, false, past, false), (.timedOut, false, past, false),
        ])
    func explains(_ code: SessionError.Code, _ isSynchronized: Bool, _ seconds: Int64, _ isExplained: Bool) {
        let status = ClockStatus(isSynchronized: isSynchronized, seconds: seconds)
        #expect(status.explains(SessionError(code, "")) == isExplained)
        #expect(
            ClockStatus.concerns(SessionError(code, "")) == (-1204 == code.rawValue || -1201 == code.rawValue)
        )
    }

    @Test("UPL-150 the trust roots' verification counts, and not the dates of pinned certificates")
    func pinned() {
        let status = ClockStatus(isSynchronized: false, seconds: Self.past)
        for (step, isExplained) in [(TrustRefusal.Step.chain, true), (.certificatePins, false)] {
            let refusal = TrustRefusal(
                step, "", advice: "", peer: PeerTrust(host: "a.test", certificates: []),
                code: .certificateNotYetValid, verifyResult: 9)
            #expect(status.explains(.serverTrust(refusal, url: nil)) == isExplained)
        }
    }
}
