// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

@testable import Outbox

@Suite("What is waited for") struct PatienceTests {
    @Test("FLD-022 the limit doubles with each try that was sent whole, up to an hour; zero is none")
    func growth() {
        let limits = (0...8).map { AnswerPatience.limit(.seconds(60), unanswered: $0) }
        #expect(limits == [60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600].map { .seconds($0) })
        #expect(AnswerPatience.limit(.zero, unanswered: 5) == .zero)
        #expect(AnswerPatience.limit(.seconds(7_200), unanswered: 5) == .seconds(7_200))
        #expect(AnswerPatience.connecting(.zero) == .seconds(60))
        #expect(AnswerPatience.connecting(.seconds(900)) == .seconds(60))
        #expect(AnswerPatience.connecting(.seconds(5)) == .seconds(5))
        #expect(RequestOptions().longestSilence == .seconds(60))
        var options = RequestOptions()
        options.timeoutInterval = .zero
        #expect(options.longestSilence > .seconds(86_400))
    }

    @Test(
        "FLD-021 without TLS nothing leaves while the probe says portal, none or nothing yet; without a probe it does"
    )
    func plain() {
        let held = InternetState.allCases.filter { PlainHolds.holds(InternetFindings($0)) }
        #expect(Set(held) == [.unknown, .none, .portal] && !PlainHolds.holds(nil))
        #expect(PlainHolds.reason(InternetFindings(.portal))?.contains("portal") == true)
        #expect(PlainHolds.reason(InternetFindings(.full)) == nil)
        #expect(PlainHolds.isPlain("http://a") && !PlainHolds.isPlain("https://a"))
    }

    @Test(
        "FLD-021 what came back without TLS while the probe says portal may be of its page, and is sent again"
    )
    func doubt() {
        let delivered = DeliveryVerdict.delivered(statusCode: 200)
        #expect(
            PlainHolds.doubt(delivered, InternetFindings(.full)) == delivered
                && PlainHolds.doubt(delivered, nil) == delivered)
        guard case .retry(let failure) = PlainHolds.doubt(delivered, InternetFindings(.portal)) else {
            Issue.record("it counts as delivered")
            return
        }
        #expect(failure.kind == .network && failure.statusCode == 200)
    }
}
