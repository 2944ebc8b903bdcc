// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore

/// Takes an answer apart for its exchange: head, content in small parts, delays, end; in a Swift task.
struct AnswerFeed: Sendable {
    /// As much content as libcurl hands over at a time.
    private static let piece = 16 << 10

    private let request: SentRequest
    /// Hands a part on; false where nothing more is wanted.
    private let hand: @Sendable (AnsweredExchange.Part) async -> Bool

    init(_ request: SentRequest, _ hand: @escaping @Sendable (AnsweredExchange.Part) async -> Bool) {
        self.request = request
        self.hand = hand
    }

    /// Asks the test and hands over its answer.
    func run(_ answering: Answering) async {
        do {
            let answer = try await answering(request).resolved(for: request)
            var progress = Progress(answer, request.method)
            var sleeper = Sleeper()
            for step in answer.steps {
                switch step {
                case .wait(let delay, let clock): try await sleeper.sleep(for: delay, on: clock)
                case .content(let content):
                    guard try await self.hand(content, of: answer, &progress) else { return }
                }
            }
            guard try await handHead(of: answer, &progress) else { return }
            _ = await hand(progress.end)
        } catch {
            let failure =
                (error as? SessionError)
                ?? SessionError(.unknown, "the test's answer has failed: \(error)", underlying: error)
            _ = await hand(.end(failure))
        }
    }

    private func handHead(of answer: Answer, _ progress: inout Progress) async throws -> Bool {
        guard !progress.hasHead, progress.comesToHead else { return true }
        progress.hasHead = true
        let cookies = answer.fields.filter { $0.name.lowercased() == "set-cookie" }.map(\.value)
        return await hand(.head(answer.head(), cookies: cookies))
    }

    private func hand(_ content: Data, of answer: Answer, _ progress: inout Progress) async throws -> Bool {
        guard try await handHead(of: answer, &progress) else { return false }
        guard progress.hasHead, answer.hasContent(for: request.method) else { return true }
        var rest = content[...]
        while !rest.isEmpty, progress.room > 0 {
            let next = rest.prefix(Int(min(Int64(Self.piece), progress.room)))
            rest = rest.dropFirst(next.count)
            progress.count += Int64(next.count)
            guard await hand(.content(Data(next))) else { return false }
        }
        return true
    }

    /// How far an answer is.
    private struct Progress {
        private let answer: Answer
        private let hasContent: Bool
        var hasHead = false
        /// Bytes of content.
        var count: Int64 = 0

        init(_ answer: Answer, _ method: HTTPRequest.Method) {
            self.answer = answer
            hasContent = answer.hasContent(for: method)
        }

        /// Whether the head comes at all.
        var comesToHead: Bool {
            switch answer.end {
            case .complete: true
            case .failure(_, let bytes), .pathLost(_, let bytes): bytes != nil
            case .silence: answer.status != 0
            }
        }

        /// The `Content-Length` that the test has written itself.
        private var announced: Int64? {
            answer.fields.last { $0.name.lowercased() == "content-length" }.flatMap { Int64($0.value) }
        }

        /// How many more bytes of content come at most.
        var room: Int64 {
            let limit: Int64 =
                switch answer.end {
                case .failure(_, let bytes), .pathLost(_, let bytes): bytes ?? 0
                case .complete, .silence: .max
                }
            return max(0, min(limit, announced ?? .max) - count)
        }

        var end: AnsweredExchange.Part {
            switch answer.end {
            case .complete:
                if hasContent, let announced, count < announced {
                    // As libcurl's CURLE_PARTIAL_FILE.
                    return .end(
                        SessionError(
                            transport: TransportFailure(
                                curlCode: 18, message: "\(announced - count) bytes of the answer are missing")
                        ))
                }
                return .end(nil)
            case .failure(let error, _): return .end(error)
            case .pathLost(let sentence, _): return .lostPath(sentence)
            case .silence: return .silence
            }
        }
    }
}

/// Sleeps from deadline to deadline, so that one move of a manual clock passes several pauses.
private struct Sleeper {
    /// What has been slept on a manual clock, and until when.
    private var last: (clock: ManualClock, deadline: ManualClock.Instant)?

    mutating func sleep(for delay: Duration, on clock: any Clock<Duration> & Sendable) async throws {
        guard let manual = clock as? ManualClock else { return try await clock.sleep(for: delay) }
        let start = last.flatMap { $0.clock === manual ? $0.deadline : nil } ?? manual.now
        let deadline = start.advanced(by: delay)
        last = (manual, deadline)
        try await manual.sleep(until: deadline)
    }
}
