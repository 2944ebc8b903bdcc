// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing
import WebSockets

@Suite("What a connection of a WebSocket does")
struct WebSocketStateMachineTests {
    private typealias Machine = WebSocketStateMachine

    private static let timing = Machine.Timing(keepAlive: 30, pongLimit: 20, closeLimit: 5)

    private func open(_ timing: Machine.Timing = timing) -> Machine {
        var machine = Machine(timing)
        machine.opened(at: 0)
        return machine
    }

    private func content(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
    }

    @Test("API-453 The times that a program sets count in nanoseconds, as far as a clock reaches")
    func times() {
        let second: Int64 = 1_000_000_000
        #expect(
            Machine.Timing(WebSocketOptions())
                == Machine.Timing(keepAlive: 30 * second, pongLimit: 20 * second, closeLimit: 5 * second))
        let extremes = WebSocketOptions(
            keepAlive: .zero, pongTimeout: .seconds(Int64.max), closeTimeout: .seconds(Int64.min))
        #expect(
            Machine.Timing(extremes)
                == Machine.Timing(keepAlive: 1_000_000, pongLimit: .max / 2, closeLimit: .min / 2))
        #expect(Machine.Timing(WebSocketOptions(keepAlive: nil)).keepAlive == nil)
    }

    @Test("API-321 Messages are delivered and pings answered, from the handshake to the close frame")
    func traffic() {
        var machine = Machine(Self.timing)
        #expect(machine.received(.message(.text("early")), at: 0) == .nothing)
        machine.opened(at: 0)
        #expect(machine.received(.message(.text("a")), at: 1) == .deliver(.text("a")))
        #expect(machine.received(.ping([7]), at: 1) == .answerPing([7]))
        #expect(
            machine.received(.close(WebSocketClosing(.goingAway, "bye")), at: 2)
                == .close(WebSocketClosing(.goingAway), isUrgent: true))
        #expect(machine.received(.message(.text("late")), at: 3) == .nothing)
        #expect(machine.peerClosing == WebSocketClosing(.goingAway, "bye"))
        #expect(machine.connectionLost(nil) == .end(.closed(WebSocketClosing(.goingAway, "bye"))))
        #expect(machine.connectionLost(nil) == .nothing)
    }

    @Test("API-322 A program that closes still gets messages, until the other side's close frame")
    func closing() {
        var machine = open()
        #expect(
            machine.closeRequested(WebSocketClosing(.normal, "x"), at: 10)
                == .close(WebSocketClosing(.normal, "x"), isUrgent: false))
        #expect(machine.closeRequested(WebSocketClosing(.normal), at: 10) == .nothing)
        #expect(machine.received(.message(.text("a")), at: 11) == .deliver(.text("a")))
        #expect(machine.closeSent() == .nothing)
        #expect(machine.received(.close(WebSocketClosing(.normal)), at: 12) == .nothing)
        #expect(machine.nextDeadline == 17)
        #expect(machine.timeCame(at: 16) == .nothing)
        #expect(machine.timeCame(at: 17) == .end(.closed(WebSocketClosing(.normal))))
        #expect(machine.state == .closed)
    }

    @Test("API-323 A close frame that is not answered ends at the limit")
    func unanswered() {
        var machine = open()
        _ = machine.closeRequested(WebSocketClosing(.normal), at: 10)
        #expect(machine.nextDeadline == 15)
        #expect(machine.timeCame(at: 15) == .end(.unanswered))
        var early = Machine(Self.timing)
        #expect(early.closeRequested(WebSocketClosing(.normal), at: 0) == .end(.lost(nil)))
    }

    @Test("API-324 A violation is told in a close frame, behind which the connection ends")
    func violation() {
        var machine = open()
        #expect(
            machine.received(.violation(.badText), at: 1)
                == .close(WebSocketViolation.badText.closing, isUrgent: true))
        #expect(machine.nextDeadline == 6)
        #expect(machine.closeSent() == .end(.violated(.badText)))
        // Where the other side does not take the frame, the limit ends it.
        var stuck = open()
        _ = stuck.received(.violation(.reservedBits), at: 1)
        #expect(stuck.timeCame(at: 6) == .end(.violated(.reservedBits)))
        var closing = open()
        _ = closing.closeRequested(WebSocketClosing(.normal), at: 1)
        #expect(closing.received(.violation(.badLength), at: 2) == .end(.violated(.badLength)))
    }

    @Test("API-325 Silence is pinged, and silence after that is a dead line")
    func keepAlive() {
        var machine = open()
        #expect(machine.nextDeadline == 30)
        machine.bytesCame(at: 25)
        #expect(machine.nextDeadline == 55)
        #expect(machine.timeCame(at: 54) == .nothing)
        #expect(machine.timeCame(at: 55) == .ping(1))
        #expect(machine.nextDeadline == 75)
        // Whatever comes shows that the line works.
        machine.bytesCame(at: 70)
        #expect(machine.nextDeadline == 100)
        #expect(machine.timeCame(at: 100) == .ping(2))
        #expect(machine.timeCame(at: 120) == .end(.silent(50)))
        let never = open(Machine.Timing(keepAlive: nil, pongLimit: 20, closeLimit: 5))
        #expect(never.nextDeadline == nil)
    }

    @Test("API-326 A program that reads nothing is no dead line")
    func held() {
        var machine = open()
        #expect(machine.timeCame(at: 30) == .ping(1))
        machine.setHeld(true, at: 35)
        #expect(machine.nextDeadline == nil)
        #expect(machine.timeCame(at: 1000) == .nothing)
        machine.setHeld(false, at: 1000)
        #expect(machine.nextDeadline == 1030)
        _ = machine.closeRequested(WebSocketClosing(.normal), at: 1001)
        machine.setHeld(true, at: 1002)
        #expect(machine.nextDeadline == 1006)
    }

    @Test("API-327 The answer to a ping says how long it took, and answers earlier ones")
    func pings() {
        var machine = Machine(Self.timing)
        #expect(machine.pingRequested(at: 0) == nil)
        machine.opened(at: 0)
        #expect(machine.pingRequested(at: 1) == 1)
        #expect(machine.pingRequested(at: 2) == 2)
        #expect(machine.pingRequested(at: 3) == 3)
        #expect(machine.received(.pong(content(9)), at: 4) == .nothing)
        #expect(machine.received(.pong([1]), at: 4) == .nothing)
        #expect(machine.received(.pong(content(2)), at: 9) == .answered(2, after: 7))
        #expect(machine.received(.pong(content(1)), at: 9) == .nothing)
        #expect(machine.received(.pong(content(3)), at: 10) == .answered(3, after: 7))
    }

    @Test("API-328 A connection that breaks says why, where something does")
    func lost() {
        var machine = open()
        let error = SessionError(.networkConnectionLost, "reset")
        #expect(machine.connectionLost(error) == .end(.lost(error)))
        var violated = open()
        _ = violated.received(.violation(.badText), at: 1)
        #expect(violated.connectionLost(error) == .end(.violated(.badText)))
    }
}

@Suite("When a WebSocket connects again")
struct WebSocketReconnectTests {
    private typealias Machine = WebSocketReconnectStateMachine
    private static let second: Int64 = 1_000_000_000

    private func machine(_ attempts: Int? = nil) -> Machine {
        Machine(firstDelay: Self.second, longestDelay: 8 * Self.second, attempts: attempts)
    }

    @Test("API-329 Pauses double up to the longest, and differ by chance")
    func pauses() {
        var low = machine()
        var high = machine()
        let cause = Machine.Cause.failed(.cannotConnectToHost, status: nil)
        for seconds: Int64 in [1, 2, 4, 8, 8, 8] {
            let longest = seconds * Self.second
            #expect(low.ended(cause, at: 0, chance: 0) == .connect(after: longest / 2))
            // One less than the number of possibilities.
            #expect(high.ended(cause, at: 0, chance: UInt64(longest / 2)) == .connect(after: longest))
        }
    }

    @Test("API-330 A connection that has lasted begins the count anew, one that is dropped at once does not")
    func lasting() {
        var machine = machine(2)
        let lost = Machine.Cause.ended(.lost(nil))
        machine.opened(at: 0)
        #expect(machine.ended(lost, at: 1, chance: 0) == .connect(after: Self.second / 2))
        machine.opened(at: 0)
        #expect(machine.ended(lost, at: 9 * Self.second, chance: 0) == .connect(after: Self.second))
        machine.opened(at: 0)
        #expect(machine.ended(lost, at: 10 * Self.second, chance: 0) == .connect(after: Self.second / 2))
        #expect(machine.ended(lost, at: 11 * Self.second, chance: 0) == .connect(after: Self.second))
        #expect(machine.ended(lost, at: 12 * Self.second, chance: 0) == .finish)
    }

    @Test("API-331 After a lost path the next attempt waits for the path, and hardly longer")
    func path() {
        var machine = machine()
        for _ in 0..<5 {
            #expect(machine.ended(.pathLost, at: 0, chance: 0) == .connect(after: 0))
        }
        #expect(machine.ended(.pathLost, at: 0, chance: UInt64(Self.second)) == .connect(after: Self.second))
        var never = self.machine(0)
        #expect(never.ended(.pathLost, at: 0, chance: 0) == .finish)
    }

    @Test("API-332 What another attempt cannot change is the end")
    func causes() {
        func mayPass(_ cause: Machine.Cause) -> Bool { Machine.mayPass(cause) }
        for code: WebSocketCloseCode in [
            .goingAway, .internalError, .serviceRestart, .tryAgainLater, .badGateway,
        ] {
            #expect(mayPass(.ended(.closed(WebSocketClosing(code)))))
        }
        for code: WebSocketCloseCode in [
            .normal, .noStatus, .policyViolation, .protocolError, WebSocketCloseCode(rawValue: 4001),
        ] {
            #expect(!mayPass(.ended(.closed(WebSocketClosing(code)))))
        }
        #expect(mayPass(.ended(.silent(1))) && mayPass(.ended(.lost(nil))))
        #expect(!mayPass(.ended(.violated(.badText))) && !mayPass(.ended(.unanswered)))
        for status in [408, 429, 500, 503] { #expect(mayPass(.failed(.badServerResponse, status: status))) }
        for status in [200, 301, 401, 403, 404] {
            #expect(!mayPass(.failed(.badServerResponse, status: status)))
        }
        for code: SessionError.Code in [
            .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost,
        ] {
            #expect(mayPass(.failed(code, status: nil)))
        }
        for code: SessionError.Code in [.certificateUntrusted, .badServerResponse, .invalidated, .cancelled] {
            #expect(!mayPass(.failed(code, status: nil)))
        }
    }
}
