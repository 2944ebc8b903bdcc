// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct CounterTests {
    @Test("Requests are counted by key, with their methods and connections") func counts() async throws {
        let curl = Curl(origin: try await .shared)
        let url = curl.origin.url("/get?key=counted")
        _ = try await curl("-o", "/dev/null", url, "-o", "/dev/null", url, "-H", "X-Other: 1")
        _ = try await curl("-H", "X-Key: counted", "-d", "a=b", curl.origin.h2URL("/post"))
        #expect(try await curl.origin.count("counted") == 3)
        let known = try await curl.origin.statistics("counted")
        #expect(known.methods == ["GET": 2, "POST": 1] && known.connections == 2 && known.finished == 3)
        #expect(known.requests == ["GET /get?key=counted", "GET /get?key=counted", "POST /post"])
        #expect(try await curl(curl.origin.url("/count/counted")).text.contains("\"count\": 3"))
        try await curl.origin.reset("counted")
        #expect(try await curl.origin.count("counted") == 0)
        #expect(try await curl.origin.count("never") == 0)
    }

    @Test("A held request can be waited for, is active, and goes on when its gate opens") func gate()
        async throws
    {
        let curl = Curl(origin: try await .shared)
        async let first = curl(curl.origin.url("/hold/gate-1?key=held"))
        async let second = curl(curl.origin.tlsURL("/hold/gate-1?key=held"))
        let known = try await curl.origin.wait(for: "held", [.count: 2])
        #expect(known.active == 2 && known.peak == 2 && known.finished == 0)
        try await curl.origin.release("gate-1")
        #expect(try await [first.code, second.code] == [0, 0])
        try await curl.origin.wait(for: "held", [.active: 0, .finished: 2])
    }

    @Test("A client that leaves is noticed", arguments: [OriginListener.http, .h2, .direct, .directTLS])
    func left(listener: OriginListener) async throws {
        let curl = Curl(origin: try await .shared)
        let key = "left-\(listener.rawValue)"
        let transfer = Task { try await curl(curl.origin.url("/delay/60?key=\(key)", at: listener)) }
        try await curl.origin.wait(for: key, [.count: 1])
        transfer.cancel()
        let known = try await curl.origin.wait(for: key, [.active: 0])
        #expect(known.aborted == 1 && known.finished == 0)
    }

    @Test("What does not come is said, with what has come") func waitingInVain() async throws {
        let origin = try await Origin.shared
        await #expect(throws: LabError.self) {
            try await origin.wait(for: "in vain", [.count: 1], within: .milliseconds(20))
        }
    }
}
