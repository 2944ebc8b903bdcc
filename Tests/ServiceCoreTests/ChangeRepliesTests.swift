// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import Testing

@Suite("Replies to the subscribers of a change")
struct ChangeRepliesTests {
    @Test("UPL-512: each subscriber is told its own former status, although replies are shared")
    func formerStatus() throws {
        var steady = try subscriber()
        var slow = try subscriber()
        var statusOnly = try subscriber(statusOnly: true)
        // The slow one has not read, and gets the change after that alone.
        var lost = ChangeReplies(change(.unreachable))
        #expect(try text(steady.changed(&lost, unread: 0)).contains(#""previous":"wired""#))
        #expect(slow.changed(&lost, unread: 1 << 20) == nil)
        _ = statusOnly.changed(&lost, unread: 0)
        var found = ChangeReplies(change(.wifi))
        let sent = try [text(steady.changed(&found, unread: 0)), text(statusOnly.changed(&found, unread: 0))]
        #expect(sent[0] == sent[1] && sent[0].contains(#""previous":"unreachable""#))
        let late = try text(slow.changed(&found, unread: 0))
        #expect(late.contains(#""previous":"wired""#) && late.contains(#""status":"wifi""#))
        // A path below the status, which one of them does not follow.
        var path = ChangeReplies(change(.wifi, .path))
        #expect(try text(steady.changed(&path, unread: 0)).contains(#""event":"path""#))
        #expect(statusOnly.changed(&path, unread: 0) == nil)
    }

    private func subscriber(statusOnly: Bool = false) throws -> VarlinkConnectionStateMachine {
        var machine = VarlinkConnectionStateMachine(limits: VarlinkLimits())
        let parameters = statusOnly ? #","parameters":{"statusOnly":true}"# : ""
        let call = #"{"method":"io.reach.Reachability.Monitor","more":true\#(parameters)}"#
        _ = machine.received(Array(call.utf8) + [0])
        guard case .begin(.monitor(statusOnly)) = machine.next(unread: 0) else { throw NotBegun() }
        _ = machine.subscribed(statusOnly: statusOnly, to: change(.wired))
        return machine
    }

    private struct NotBegun: Error {}

    private func change(
        _ status: ReachabilityStatus, _ event: ReachabilityUpdate.Event = .status
    ) -> CommittedChange {
        CommittedChange(
            ReachabilityUpdate(event: event, status: status, previous: nil, path: ReachabilityPath()),
            since: nil,
            wall: WallTime(nanoseconds: 0), instant: MonotonicInstant(nanoseconds: 0))
    }

    private func text(_ reply: VarlinkReply?) throws -> String {
        String(decoding: try #require(reply).message, as: UTF8.self)
    }
}
