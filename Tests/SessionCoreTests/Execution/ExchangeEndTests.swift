// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

@Suite struct `What follows an exchange or a failed try` {
    private func action(_ change: (inout ExchangeEnd) -> Void) -> RequestStateMachine.Action {
        var machine = RequestStateMachine()
        var end = ExchangeEnd()
        change(&end)
        _ = machine.ready(isBlocked: false)
        return machine.ended(end)
    }

    @Test func `The cache comes before everything else`() {
        #expect(
            action { ($0.validation, $0.hasRedirect) = (.useStored, true) } == .follow(.useStoredResponse))
        #expect(
            action { ($0.validation, $0.failure) = (.useStored, .timedOut) } == .follow(.useStoredResponse))
        #expect(action { $0.validation = .reload } == .follow(.reload))
    }

    @Test func `A misdirected request is sent over a connection of its own`() {
        #expect(
            action { ($0.isMisdirected, $0.failure) = (true, .networkConnectionLost) }
                == .follow(.sendElsewhere))
    }

    @Test(
        "API-583 A redirect is followed and a challenge answered though the content is too long, broken or cut off"
    )
    func spoiledContent() {
        for code in [
            SessionError.Code.dataLengthExceedsMaximum, .cannotDecodeRawData, .networkConnectionLost,
            .badServerResponse,
        ] {
            #expect(action { ($0.hasRedirect, $0.failure) = (true, code) } == .follow(.followRedirect))
            #expect(action { ($0.isChallenge, $0.failure) = (true, code) } == .follow(.answerChallenge))
            #expect(action { $0.failure = code } == .follow(.failTry))
        }
        #expect(action { ($0.hasRedirect, $0.failure) = (true, .timedOut) } == .follow(.failTry))
        #expect(action { ($0.isChallenge, $0.failure) = (true, .timedOut) } == .follow(.failTry))
    }

    @Test func `A tunnel's challenge comes before a reconnection, that before the server's trust`() {
        #expect(
            action {
                ($0.failure, $0.isTunnelChallenge, $0.mayReconnect) = (.cannotConnectToHost, true, true)
            }
                == .follow(.answerTunnel))
        #expect(
            action {
                ($0.failure, $0.mayReconnect, $0.isServerUndecided) = (.cannotConnectToHost, true, true)
            }
                == .reconnect)
        #expect(
            action { ($0.failure, $0.isServerUndecided) = (.certificateHasUnknownRoot, true) }
                == .follow(.askAboutServer))
    }

    @Test func `What is left to do with a response has one order`() {
        var response = FinalResponse()
        #expect(response.action() == .finish)
        response.isCached = true
        #expect(response.action() == .store)
        response.isSerialized = true
        #expect(response.action() == .serialize)
        #expect(response.action(after: .serialization) == .store)
        #expect(response.action(after: .storing) == .finish)
        response.isRefusal = true
        #expect(response.action() == .askRetriers)
        response.rest = .missing
        #expect(response.action() == .askForRest)
        #expect(response.action(after: .rest) == .askRetriers)
        response.rest = .invalid
        #expect(response.action() == .failForRest)
        #expect(response.action(after: .validation) == .store)
    }

    @Test(
        "UPL-152 a failure that the clock explains waits for it with the same request, unless that cannot be sent"
    )
    func clock() {
        var machine = RequestStateMachine()
        #expect(machine.ready(isBlocked: false) == .send)
        #expect(machine.ended(ExchangeEnd(failure: .certificateNotYetValid)) == .follow(.failTry))
        var failure = FailedTry()
        (failure.isForClock, failure.stepWhenReachable) = (true, .request)
        #expect(machine.failed(failure) == .parkAfterFailure(.request))
        #expect(machine.isParked && !machine.isTimed)
        #expect(machine.suspended() == .nothing)
        #expect(machine.unparked() == .nothing)
        #expect(machine.resumed() == .prepare(.request))
        #expect(machine.ready(isBlocked: false) == .send)
        #expect(machine.ended(ExchangeEnd(failure: .certificateNotYetValid)) == .follow(.failTry))
        failure.stepWhenReachable = nil
        #expect(machine.failed(failure) == .finish)
    }

    @Test func `A failure without a network waits for it, unless it waits already, or may not be repeated`() {
        var machine = RequestStateMachine()
        var failure = FailedTry()
        (failure.isBlocked, failure.stepWhenReachable) = (true, .attempt)
        var actions = [machine.failed(failure), machine.failed(failure), machine.unparked()]
        failure.stepWhenReachable = nil
        actions.append(machine.failed(failure))
        failure.asksRetriers = true
        actions.append(machine.failed(failure))
        #expect(
            actions == [.parkAfterFailure(.attempt), .finish, .prepare(.attempt), .finish, .askRetriers])
        failure.stepWhenReachable = .attempt
        failure.isBlocked = false
        actions = [machine.failed(failure)]
        _ = machine.finished()
        actions.append(machine.failed(failure))
        #expect(actions == [.askRetriers, .nothing])
    }
}
