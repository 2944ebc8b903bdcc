// SPDX-License-Identifier: Apache-2.0

import ServiceCore
import Testing

@Suite("Where the outbox is looked for")
struct OutboxLocationRulesTests {
    private func location(
        _ answer: SocketAnswer?, isNamed: Bool = false, recorded: String? = nil,
        configured: Result<String, OutboxLocationRules.Problem> = .success("/configured")
    ) -> OutboxLocationRules.Location {
        OutboxLocationRules.location(
            socket: "/run/s", isNamed: isNamed, answer: answer, recorded: recorded, configured: configured)
    }

    private func isNowhere(_ location: OutboxLocationRules.Location) -> Bool {
        if case .nowhere = location { true } else { false }
    }

    @Test("FLD-050 a service that listens is asked, a busy one too: it is waited for")
    func service() {
        for isNamed in [false, true] {
            #expect(location(.listening, isNamed: isNamed, recorded: "/noted") == .service)
            #expect(location(.busy, isNamed: isNamed, recorded: "/noted") == .service)
        }
    }

    @Test(
        "FLD-050 absent: the directory of the last service, or else the configured one; refused: the noted one alone"
    )
    func files() {
        #expect(location(.absent, recorded: "/noted") == .files(directory: "/noted"))
        #expect(location(.absent) == .files(directory: "/configured"))
        #expect(location(nil) == .files(directory: "/configured"))
        #expect(location(.refused, recorded: "/noted") == .files(directory: "/noted"))
        #expect(isNowhere(location(.refused)))
        #expect(isNowhere(location(.denied("Permission denied"), recorded: "/noted")))
        #expect(isNowhere(location(.absent, configured: .failure(.init(reason: "reach.toml:1: wrong")))))
    }

    @Test(
        "FLD-050 a socket that was named is never replaced by files",
        arguments: [SocketAnswer.absent, .refused])
    func named(answer: SocketAnswer) {
        #expect(isNowhere(location(answer, isNamed: true, recorded: "/noted")))
    }

    @Test("FLD-050 a note is whole or none; another user's is believed about that user's own directory alone")
    func notes() {
        #expect(
            StateDirectoryRecordRules.directory(in: StateDirectoryRecordRules.content(directory: "/a b"))
                == "/a b")
        for bytes in ["", "\n", "/a", "a\n", "/a\n/b\n", "/a\u{1B}\n"] {
            #expect(StateDirectoryRecordRules.directory(in: Array(bytes.utf8)) == nil)
        }
        #expect(StateDirectoryRecordRules.directory(in: [47, 0xFF, 10]) == nil)
        #expect(StateDirectoryRecordRules.path(socket: "@reach") == nil)
        func isBelieved(_ owner: UInt32, _ mode: UInt32 = 0o644, of directory: UInt32?, by user: UInt32)
            -> Bool
        {
            StateDirectoryRecordRules.isBelieved(
                owner: owner, mode: mode, directoryOwner: directory, user: user)
        }
        #expect(isBelieved(0, of: 7, by: 5) && isBelieved(5, of: nil, by: 5) && isBelieved(7, of: 7, by: 0))
        #expect(
            !isBelieved(7, of: 0, by: 0) && !isBelieved(7, of: nil, by: 0)
                && !isBelieved(0, 0o664, of: 0, by: 0))
    }
}
