// SPDX-License-Identifier: Apache-2.0

import EventLoop
package import ReachabilityCore
package import ServiceCore

/// What clients ask of the history: read on the thread for files, behind what has been written before.
extension HistoryService: HistoryAnswering {
    /// The maximum of queries that wait for the disk: each delays later writes.
    package static let questionLimit = 8

    package func answerHistory(since: WallTime?, limit: Int, _ answer: @escaping (VarlinkReply) -> Void) {
        guard let context, let writer else { return answer(.unavailable("the service ends")) }
        guard questions < Self.questionLimit else {
            return answer(.limit("\(Self.questionLimit) clients wait for the history already"))
        }
        questions += 1
        let now = context.wallClock()
        let from = since ?? now + .seconds(-86_400)
        let question = LoopBound(Question(self, answer), to: context.reactor)
        writer.perform { writer in
            let reply = writer.periods(from: from, to: now, limit: limit)
            question.perform { $0.ended(reply) }
        }
    }

    /// A query of a client.
    private final class Question {
        private let service: HistoryService
        private let answer: (VarlinkReply) -> Void

        init(_ service: HistoryService, _ answer: @escaping (VarlinkReply) -> Void) {
            (self.service, self.answer) = (service, answer)
        }

        func ended(_ reply: VarlinkReply) {
            service.questions -= 1
            answer(reply)
        }
    }
}
