// SPDX-License-Identifier: Apache-2.0

import EventLoop
package import ReachabilityCore
package import ServiceCore

/// What clients ask of the history: read on the thread for files, behind what has been written before.
extension HistoryKeeper: HistoryAnswering {
    package func answerHistory(since: WallTime?, limit: Int, _ answer: @escaping (VarlinkReply) -> Void) {
        guard let context, let writer else { return answer(.unavailable("the service ends")) }
        let now = context.wallClock()
        let from = since ?? now + .seconds(-86_400)
        let caller = LoopBound(Caller(answer), to: context.reactor)
        writer.perform { writer in
            let reply = writer.periods(from: from, to: now, limit: limit)
            caller.perform { $0.answer(reply) }
        }
    }

    private final class Caller {
        let answer: (VarlinkReply) -> Void
        init(_ answer: @escaping (VarlinkReply) -> Void) { self.answer = answer }
    }
}
