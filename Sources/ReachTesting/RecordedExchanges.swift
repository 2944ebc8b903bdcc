// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
public import SessionCore
import Synchronization

/// Answers requests from the recording of an ``ExchangeRecorder``.
///
///     let recorded = try RecordedExchanges(at: "Tests/Recordings/login.jsonl")
///     let api = try HTTPSessionManager(baseURL: base, answering: recorded.answer)
///
/// Requests are told apart by method, URL and body, without their secrets. Each line answers once; the same
/// request is answered by its lines in order. ``unanswered`` names the lines that were not asked for.
public final class RecordedExchanges: Sendable {
    /// Where the recording is.
    public let path: String
    private let secrets: RecordingSecrets
    private let rest: Mutex<[RecordedExchange]>

    /// A recording.
    ///
    /// - Parameter others: names of secrets besides the usual ones; the recorder's.
    /// - Throws: ``SessionCore/SessionError/Code/cannotOpenFile``,
    ///   ``SessionCore/SessionError/Code/cannotParseResponse`` with the line's number.
    public init(at path: String, secrets others: [String] = []) throws(SessionError) {
        self.path = path
        secrets = RecordingSecrets(others)
        let text: String
        do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
            throw SessionError(
                .cannotOpenFile, "\(path) cannot be read", advice: "record it with an ExchangeRecorder",
                underlying: error)
        }
        var exchanges: [RecordedExchange] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty {
            do {
                exchanges.append(try JSONDecoder().decode(RecordedExchange.self, from: Data(line.utf8)))
            } catch {
                throw SessionError(
                    .cannotParseResponse, "\(path):\(index + 1): no recorded exchange: \(error)",
                    advice: "correct the line, or record it anew", underlying: error)
            }
        }
        rest = Mutex(exchanges)
    }

    /// The requests that were recorded and have not been sent yet, as `GET https://…`.
    public var unanswered: [String] { rest.withLock { $0.map { "\($0.key)" } } }

    /// The answer that was recorded for a request.
    ///
    /// - Throws: ``SessionCore/SessionError/Code/resourceUnavailable`` for a request that was not recorded,
    ///   with those that were.
    @Sendable public func answer(_ request: SentRequest) throws -> Answer {
        let key = secrets.exchange(of: request).key
        let (found, others) = rest.withLock { rest -> (RecordedExchange?, [String]) in
            if let index = rest.firstIndex(where: { $0.key == key }) { return (rest.remove(at: index), []) }
            return (nil, rest.prefix(10).map { "\($0.key)" })
        }
        if let found { return found.answer }
        let left = others.isEmpty ? "nothing is left in it" : "left are: \(others.joined(separator: "; "))"
        throw SessionError(
            .resourceUnavailable, "\(key) is not in \(path), or was answered already; \(left)",
            advice: "record it anew if the program now sends other requests", failingURL: request.url)
    }
}
