// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SessionCore
import Testing

@testable import reach

@Suite("How long reach get waits for a silent server")
struct GetSilenceTests {
    private func options(_ words: String...) throws -> (silence: Duration, total: Duration?) {
        let command = try #require(try Reach.parseAsRoot(["get"] + words + ["http://a/"]) as? Get)
        let url = try #require(command.urls.first)
        let request = try command.content.request(url, command.connection)
        return (request.options.timeoutInterval, request.options.timeouts.total)
    }

    @Test("FLD-022 -m 0 waits for ever, a longer -m as long as it says")
    func silence() throws {
        #expect(try options() == (.seconds(60), nil))
        #expect(try options("-m", "0") == (.zero, nil))
        #expect(try options("-m", "300") == (.seconds(300), .seconds(300)))
        #expect(try options("-m", "10") == (.seconds(60), .seconds(10)))
    }
}
