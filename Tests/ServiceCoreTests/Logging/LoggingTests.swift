// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import Testing

@Suite("The log's rules")
struct LoggingTests {
    private func second(_ second: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: second * 1_000_000_000)
    }

    @Test("a limit of lines in a minute; the first one after it has the count of the others")
    func throttle() {
        var throttle = LogThrottle(limit: 2)
        #expect(throttle.judge(at: second(100)) == .write(leftOut: 0))
        #expect(throttle.judge(at: second(101)) == .write(leftOut: 0))
        #expect(throttle.deadline == nil)
        #expect(throttle.judge(at: second(102)) == .leaveOut)
        #expect(throttle.judge(at: second(159)) == .leaveOut)
        #expect(throttle.deadline == second(160))
        #expect(throttle.judge(at: second(160)) == .write(leftOut: 2))
        #expect(throttle.deadline == nil)
        #expect(throttle.judge(at: second(161)) == .write(leftOut: 0))
        #expect(throttle.judge(at: second(162)) == .leaveOut)
        #expect(throttle.consumeLeftOut() == 1)
        #expect(throttle.consumeLeftOut() == 0)
        #expect(throttle.total == 3)
    }

    @Test("ten thousand changes in a minute are sixty lines and a number")
    func storm() {
        var throttle = LogThrottle(limit: 60)
        var written = 0
        for index in 0..<10_000 {
            if throttle.judge(at: MonotonicInstant(nanoseconds: Int64(index) * 5_000_000)) != .leaveOut {
                written += 1
            }
        }
        #expect(written == 60)
        #expect(throttle.consumeLeftOut() == 9940)
    }

    @Test("one line for each change")
    func sentences() {
        #expect(
            ChangeSentence.text(
                .at(4, .wired, was: .unreachable, reason: "default route"), before: .seconds(12))
                == "status wired on eth0, was unreachable for 12 s: default route (generation 5)")
        #expect(
            ChangeSentence.text(.at(4, .unreachable, event: .initial, reason: "eth0:\nno carrier"))
                == "status unreachable: eth0:\u{FFFD}no carrier (generation 5)")
        #expect(
            ChangeSentence.text(.at(4, .wired, was: .wired, event: .path))
                == "path online on eth0, status still wired: a reason (generation 5)")
        #expect(ChangeSentence.priority(.at(1, .unreachable, was: .wired)) == .warning)
        #expect(ChangeSentence.priority(.at(1, .wired, was: .unreachable)) == .notice)
        #expect(ChangeSentence.priority(.at(1, .wired, was: .wired, event: .path)) == .info)
    }

    @Test(
        "whether the journal reads",
        arguments: [
            ("8:42", true), ("8:43", false), ("9:42", false), ("", false), (nil, false), ("8", false),
            ("8:42:1", false),
        ]
            as [(String?, Bool)])
    func journal(variable: String?, matches: Bool) {
        #expect(JournalStream.matches(variable, device: 8, inode: 42) == matches)
    }
}
