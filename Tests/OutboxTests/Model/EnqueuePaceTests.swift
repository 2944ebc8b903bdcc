// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Outbox

@Suite struct EnqueuePaceTests {
    private let soon = EnqueuePace.soon

    @Test("OBX-133 The next request is waited for after one that came at once, and not after the first")
    func steady() {
        var pace = EnqueuePace()
        pace.begins(1, at: 1_000)
        #expect(pace.stored(at: 2_000) == nil)
        pace.begins(1, at: 2_000 + soon - 1)
        #expect(pace.stored(at: 3_000 + soon) == 3_000 + 2 * soon)
    }

    @Test("OBX-134 Nothing is waited for after a pause, or after several requests at once")
    func others() {
        var pace = EnqueuePace()
        pace.begins(1, at: 0)
        _ = pace.stored(at: 1)
        pace.begins(1, at: 1 + soon)
        #expect(pace.stored(at: 2 + soon) == nil)
        pace.begins(2, at: 3 + soon)
        #expect(pace.stored(at: 4 + soon) == nil)
    }
}
