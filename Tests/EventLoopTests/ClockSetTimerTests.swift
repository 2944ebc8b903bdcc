// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import Testing

@Suite struct ClockSetTimerTests {
    @Test("UPL-162 the timer is of the wall clock, is cancelled when that is set, and never ends by itself")
    func flags() throws {
        let timer = try ClockSetTimer.open()
        #expect(isQuiet(timer.number))
        // fs/timerfd.c, timerfd_show(); proc_pid_fdinfo(5).
        let info = try String(contentsOfFile: "/proc/self/fdinfo/\(timer.number)", encoding: .utf8)
        let lines = info.split(separator: "\n").map(String.init)
        #expect(lines.contains("clockid: 0"), "\(info)")
        #expect(lines.contains("settime flags: 03"), "\(info)")
        let rest = lines.first { $0.hasPrefix("it_value: (") }?.dropFirst(11).prefix { $0 != "," } ?? ""
        #expect(Int64(rest).map { $0 > 100 * 366 * 86_400 } == true, "\(info)")
        #expect(ClockSetTimer.restart(timer.number) && isQuiet(timer.number))
        #expect(fcntl(timer.number, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test("UPL-162 what is no timer is refused")
    func refusal() { #expect(!ClockSetTimer.restart(-1)) }

    private func isQuiet(_ descriptor: Int32) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) == 0
    }
}
