// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import Testing

@Suite("Hooks: what runs when, and with what")
struct HookTests {
    private func reported(_ step: HookQueueStateMachine.Step) -> String {
        switch step {
        case .nothing: "nothing"
        case .list: "list"
        case .run(let name, let event):
            "\(name) \(event.word) \(event.previous?.description ?? "-")>\(event.change.status) skipped \(event.skipped)"
        }
    }

    @Test("a round in the order of the names, byte by byte")
    func order() {
        var machine = HookQueueStateMachine()
        #expect(machine.changed(.at(1, .wired, event: .initial)) == .list)
        #expect(reported(machine.found(["b", "10", "2", "Z"])) == "10 status ->wired skipped 0")
        #expect(reported(machine.ended()) == "2 status ->wired skipped 0")
        #expect(reported(machine.ended()) == "Z status ->wired skipped 0")
        #expect(reported(machine.ended()) == "b status ->wired skipped 0")
        #expect(machine.ended() == .nothing)
        #expect(machine.isIdle == true)
        #expect(machine.changed(.at(2, .wifi, was: .wired)) == .list)
        #expect(machine.found([]) == .nothing)
        #expect(machine.isIdle == true)
        #expect(machine.rounds == 2)
    }

    @Test("while a round runs only the newest change waits, and is compared with what the hooks know")
    func newest() {
        var machine = HookQueueStateMachine()
        _ = machine.changed(.at(1, .wired, was: .unreachable))
        _ = machine.found(["a", "b"])
        #expect(machine.changed(.at(2, .unreachable, was: .wired)) == .nothing)
        #expect(machine.changed(.at(3, .wifi, was: .unreachable)) == .nothing)
        // Only the path changes: the status that no hook has got yet is still reported.
        #expect(machine.changed(.at(4, .wifi, was: .wifi, event: .path)) == .nothing)
        #expect(reported(machine.ended()) == "b status unreachable>wired skipped 0")
        #expect(machine.ended() == .list)
        #expect(reported(machine.found(["a"])) == "a status wired>wifi skipped 2")
        #expect(machine.skipped == 2)
        #expect(machine.ended() == .nothing)
    }

    @Test("a status that came and went is no change, and one newer than the directory's list is reported")
    func cameAndWent() {
        var machine = HookQueueStateMachine()
        _ = machine.changed(.at(1, .wired, was: .wired, event: .path))
        #expect(machine.changed(.at(2, .unreachable, was: .wired)) == .nothing)
        #expect(machine.changed(.at(3, .wired, was: .unreachable)) == .nothing)
        #expect(reported(machine.found(["a"])) == "a path wired>wired skipped 2")
    }

    @Test("after a stop nothing begins any more, and a program that still ends does no harm")
    func stopped() {
        var machine = HookQueueStateMachine()
        _ = machine.changed(.at(1, .wired, was: .unreachable))
        _ = machine.found(["a", "b"])
        _ = machine.changed(.at(2, .unreachable, was: .wired))
        machine.stop()
        #expect(machine.ended() == .nothing)
        #expect(machine.isIdle == true)
        #expect(machine.changed(.at(3, .wired, was: .unreachable)) == .nothing)
        #expect(machine.ended() == .nothing)
        #expect(machine.found(["a"]) == .nothing)
    }

    @Test("ten thousand changes while one program runs leave one waiting")
    func storm() {
        var machine = HookQueueStateMachine()
        _ = machine.changed(.at(0, .wired, event: .initial))
        _ = machine.found(["a"])
        for second in 1...10_000 {
            let isUp = second % 2 == 0
            _ = machine.changed(
                .at(Int64(second), isUp ? .wired : .unreachable, was: isUp ? .unreachable : .wired))
        }
        #expect(machine.ended() == .list)
        #expect(reported(machine.found(["a"])) == "a path wired>wired skipped 9999")
        #expect(machine.ended() == .nothing)
    }

    @Test("UPL-246 the environment says what traffic costs")
    func cost() {
        var path = ReachabilityPath(status: .wired, interface: "ppp0", isExpensive: true, isConstrained: true)
        path.isRoaming = true
        let update = ReachabilityUpdate(event: .path, status: .wired, previous: .wired, path: path)
        let change = CommittedChange(
            update, since: nil, wall: WallTime(nanoseconds: 0), instant: MonotonicInstant(nanoseconds: 0))
        let variables = Dictionary(
            uniqueKeysWithValues: HookEvent(change).environment.map { ($0.name, $0.value) })
        #expect(variables["REACH_METERED"] == "guess-yes" && variables["REACH_EXPENSIVE"] == "1")
        #expect(variables["REACH_ROAMING"] == "1" && variables["REACH_CONSTRAINED"] == "1")
    }

    @Test("arguments and environment")
    func environment() {
        let event = HookEvent(.at(4, .wired, was: .unreachable, reason: "net \u{1B}[2J\nwork"))
        #expect(event.word == "status")
        #expect(event.interface == "eth0")
        let variables = Dictionary(uniqueKeysWithValues: event.environment.map { ($0.name, $0.value) })
        #expect(variables["REACH_STATUS"] == "wired")
        #expect(variables["REACH_PREVIOUS"] == "unreachable")
        #expect(variables["REACH_INTERFACE"] == "eth0")
        #expect(variables["REACH_MEDIUM"] == "ethernet")
        #expect(variables["REACH_ONLINE"] == "1")
        #expect(variables["REACH_GENERATION"] == "5")
        #expect(variables["REACH_REASON"] == "net \u{FFFD}[2J\u{FFFD}work")
        #expect(variables["REACH_REASON_CODE"] == "defaultRoute")
        let loss = HookEvent(.at(4, .unreachable, was: .wired))
        #expect(loss.interface == "eth0")
        #expect(HookEvent(.at(4, .unreachable, interface: nil)).interface == "none")
    }

    @Test(
        "who may have put it there",
        arguments: [
            (HookFile(kind: .file, owner: 0, mode: 0o755), 0, nil),
            (HookFile(kind: .file, owner: 0, mode: 0o700), 1000, nil),
            (HookFile(kind: .file, owner: 1000, mode: 0o755), 1000, nil),
            (HookFile(kind: .file, owner: 1000, mode: 0o755), 0, "does not belong to root (chown root)"),
            (
                HookFile(kind: .file, owner: 1001, mode: 0o755), 1000,
                "belongs neither to root nor to the service's user"
            ),
            (HookFile(kind: .file, owner: 0, mode: 0o775), 0, "may be written by others (chmod go-w)"),
            (HookFile(kind: .file, owner: 0, mode: 0o757), 0, "may be written by others (chmod go-w)"),
            (HookFile(kind: .file, owner: 0, mode: 0o644), 0, "is not executable (chmod +x)"),
            (
                HookFile(kind: .file, owner: 0, mode: 0o4755), 0,
                "is set-user-ID or set-group-ID; take that away (chmod ug-s)"
            ),
            (
                HookFile(kind: .link, owner: 0, mode: 0o777), 0,
                "is a symbolic link; put the program itself there"
            ),
            (HookFile(kind: .directory, owner: 0, mode: 0o755), 0, "is no program"),
        ] as [(HookFile, UInt32, String?)])
    func rules(file: HookFile, user: UInt32, refusal: String?) {
        #expect(HookRules.refusal(file, user: user) == refusal)
    }

    @Test("the directory has to be safe as well")
    func directory() {
        #expect(
            HookRules.refusal(directory: HookFile(kind: .directory, owner: 0, mode: 0o755), user: 0) == nil)
        #expect(
            HookRules.refusal(directory: HookFile(kind: .directory, owner: 0, mode: 0o1777), user: 0) != nil)
        #expect(HookRules.refusal(directory: HookFile(kind: .link, owner: 0, mode: 0o777), user: 0) != nil)
        #expect(
            HookRules.refusal(directory: HookFile(kind: .directory, owner: 7, mode: 0o755), user: 0) != nil)
    }

    @Test(
        "names",
        arguments: [
            ("10-led", true), (".hidden", false), ("a~", false), ("a.dpkg-old", false), ("", false),
            ("a.sh", true),
        ])
    func names(name: String, isHook: Bool) { #expect(HookRules.isHook(name) == isHook) }
}
