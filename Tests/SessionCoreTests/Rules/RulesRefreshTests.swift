// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

struct RulesRefreshTests {
    private struct Failure: Error, Equatable { let number: Int }
    private typealias Machine = CredentialRefreshStateMachine<Int>
    private let start = ContinuousClock.now

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    private func text(_ step: Machine.Step) -> String {
        switch step {
        case .proceed(let credential): "proceed \(credential)"
        case .wait: "wait"
        case .refresh(let credential, let number): "refresh \(credential) as \(number)"
        case .fail(let error): text(error)
        }
    }

    private func text(_ outcome: Machine.Outcome) -> String {
        switch outcome {
        case .ignore: "ignore"
        case .proceed(let credential): "proceed \(credential)"
        case .fail(let error): text(error)
        }
    }

    private func text(_ error: any Error) -> String {
        if let error = error as? Failure { return "fail \(error.number)" }
        return "fail \((error as? SessionError)?.code.rawValue ?? 0)"
    }

    @Test("one refresh for all that were refused; they proceed with what it brings")
    func single() {
        var machine = Machine(1, window: RefreshWindow())
        #expect(text(machine.adapting(isFirstTry: true, requiresRefresh: false, at: at(0))) == "proceed 1")
        #expect(text(machine.refused(isCurrent: true, at: at(1))) == "refresh 1 as 1")
        #expect(text(machine.refused(isCurrent: true, at: at(1))) == "wait")
        #expect(text(machine.refused(isCurrent: false, at: at(1))) == "wait")
        #expect(text(machine.adapting(isFirstTry: true, requiresRefresh: false, at: at(1))) == "wait")
        #expect(text(machine.refreshed(2, number: 1)) == "proceed 2")
        #expect(text(machine.adapting(isFirstTry: false, requiresRefresh: false, at: at(2))) == "proceed 2")
    }

    @Test("a request signed with an older credential is sent again without another refresh")
    func older() {
        var machine = Machine(1, window: RefreshWindow())
        _ = machine.refused(isCurrent: true, at: at(0))
        _ = machine.refreshed(2, number: 1)
        #expect(text(machine.refused(isCurrent: false, at: at(1))) == "proceed 2")
        #expect(text(machine.refused(isCurrent: true, at: at(1))) == "refresh 2 as 2")
    }

    @Test("a credential that is about to end is refreshed before it is used")
    func proactive() {
        var machine = Machine(1, window: RefreshWindow())
        #expect(
            text(machine.adapting(isFirstTry: true, requiresRefresh: true, at: at(0))) == "refresh 1 as 1")
        #expect(text(machine.adapting(isFirstTry: true, requiresRefresh: true, at: at(0))) == "wait")
        #expect(text(machine.refreshed(2, number: 1)) == "proceed 2")
    }

    @Test("a failed refresh fails who waits and every retry, until a new request or credential comes")
    func failing() {
        var machine = Machine(1, window: RefreshWindow())
        _ = machine.refused(isCurrent: true, at: at(0))
        #expect(text(machine.refreshFailed(Failure(number: 7), number: 1)) == "fail 7")
        #expect(text(machine.refused(isCurrent: true, at: at(1))) == "fail 7")
        #expect(text(machine.adapting(isFirstTry: false, requiresRefresh: true, at: at(1))) == "fail 7")
        #expect(text(machine.refused(isCurrent: false, at: at(1))) == "proceed 1")
        #expect(text(machine.adapting(isFirstTry: true, requiresRefresh: false, at: at(2))) == "proceed 1")
        #expect(text(machine.refused(isCurrent: true, at: at(2))) == "refresh 1 as 2")
        _ = machine.refreshFailed(Failure(number: 8), number: 2)
        #expect(text(machine.replaced(by: 5)) == "proceed 5")
        #expect(text(machine.refused(isCurrent: true, at: at(3))) == "refresh 5 as 3")
    }

    @Test("the sixth refresh within thirty seconds is refused, and allowed when the first is older")
    func window() {
        var machine = Machine(0, window: RefreshWindow())
        for number in 1...5 {
            #expect(
                text(machine.refused(isCurrent: true, at: at(number))) == "refresh \(number - 1) as \(number)"
            )
            _ = machine.refreshed(number, number: number)
        }
        #expect(text(machine.refused(isCurrent: true, at: at(6))) == "fail -1013")
        #expect(text(machine.refused(isCurrent: true, at: at(30))) == "fail -1013")
        #expect(text(machine.adapting(isFirstTry: true, requiresRefresh: false, at: at(30))) == "proceed 5")
        #expect(text(machine.adapting(isFirstTry: true, requiresRefresh: true, at: at(30))) == "fail -1013")
        #expect(text(machine.refused(isCurrent: true, at: at(31))) == "refresh 5 as 6")
    }

    @Test("without a window there is no limit, and a new credential empties it")
    func noWindow() {
        var free = Machine(0, window: nil)
        var machine = Machine(0, window: RefreshWindow(limit: 1))
        for number in 1...20 {
            #expect(text(free.refused(isCurrent: true, at: at(0))) == "refresh \(number - 1) as \(number)")
            _ = free.refreshed(number, number: number)
            #expect(text(machine.refused(isCurrent: true, at: at(0))) == "refresh 0 as \(number)")
            _ = machine.replaced(by: 0)
        }
    }

    @Test("a refresh that ends after another credential came counts no longer")
    func overtaken() {
        var machine = Machine(1, window: RefreshWindow())
        _ = machine.refused(isCurrent: true, at: at(0))
        #expect(text(machine.replaced(by: 9)) == "proceed 9")
        #expect(text(machine.refreshed(2, number: 1)) == "ignore")
        #expect(text(machine.refreshFailed(Failure(number: 1), number: 1)) == "ignore")
        #expect(machine.credential == 9)
        #expect(text(machine.refused(isCurrent: true, at: at(1))) == "refresh 9 as 2")
        #expect(text(machine.refreshed(2, number: 1)) == "ignore")
        #expect(text(machine.refreshed(3, number: 2)) == "proceed 3")
    }

    @Test("without a credential everything fails, and says what to do")
    func missing() {
        var machine = Machine(nil, window: RefreshWindow())
        #expect(text(machine.adapting(isFirstTry: true, requiresRefresh: false, at: at(0))) == "fail -1013")
        #expect(text(machine.refused(isCurrent: true, at: at(0))) == "fail -1013")
        _ = machine.replaced(by: 1)
        #expect(text(machine.adapting(isFirstTry: true, requiresRefresh: false, at: at(0))) == "proceed 1")
        #expect(text(machine.replaced(by: nil)) == "fail -1013")
        #expect(machine.credential == nil)
    }
}
