// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import SessionManager

/// The result of a `reach get`, as a sentence, JSON and the exit code.
struct GetReport: Sendable {
    /// Why it failed.
    struct Failure: Sendable, Equatable {
        var exitCode: ExitCode
        /// The number of the error; nil if only the status is the reason.
        var number: Int?
        /// The sentence with its advice.
        var sentence: String
    }

    /// The URL of the answer, after redirects; without user and password.
    private(set) var url: URL
    private(set) var host: String
    private(set) var status: Int?
    private(set) var version: HTTPVersion?
    private(set) var remote: String?
    /// The checksum to compare with.
    let expected: [UInt8]?
    /// The bytes of content received by this run.
    var bytes: Int64 = 0
    /// The server's size of the content.
    var total: Int64?
    /// The size of the complete file; nil if it is incomplete.
    var size: Int64?
    /// The bytes that an earlier run has stored.
    var resumedAt: Int64 = 0
    /// The file existed already and is right.
    var wasComplete = false
    var elapsed: Duration = .zero
    var file: String?
    /// Whether the request is conditional, so that an answer without content is a success.
    var isConditional = false
    /// The number of repeated attempts.
    var retries = 0
    private(set) var partFile: String?
    /// Whether `--resume` can continue the part without a checksum of the file.
    private(set) var hasValidator = true
    private(set) var partBytes: Int64 = 0
    /// The size of the file that the part belongs to.
    private(set) var partTotal: Int64?
    var hash: [UInt8]?
    /// Whether the content did not end with a line feed.
    var leavesLineOpen = false
    private(set) var failure: Failure?

    /// The URL that was asked for, without user and password.
    let requested: URL
    /// Whether there are others, so that each sentence has to tell which it is about.
    var isOneOfMany = false

    init(url: URL, expected: [UInt8]? = nil) {
        self.url = url.withoutUser
        requested = self.url
        host = url.host() ?? ""
        self.expected = expected
    }

    /// Records the answer's head.
    mutating func record(_ response: SessionResponse?, _ metrics: [TransferMetrics]) {
        if let response {
            url = response.url.withoutUser
            host = url.host() ?? host
            status = response.statusCode
            version = response.version
        }
        if let end = metrics.last?.remote { remote = end.description }
    }

    mutating func fail(_ error: SessionError) {
        record(error.response, [])
        if let status, status >= 300, error.code == .badServerResponse {
            let verdict = GetStatus(
                status, isConditional: isConditional,
                hasLocation: error.response?.value(forHeader: "location") != nil)
            failure = Failure(
                exitCode: verdict.exitCode, number: error.code.rawValue,
                sentence: Self.sentence(status: status, verdict.explanation, url, error.data))
            return
        }
        let advice = error.spokenAdvice.isEmpty ? "" : "; \(error.spokenAdvice)"
        let isKnown = error.isAboutFiles || error.code == .checksumMismatch && !isOneOfMany
        let address = isKnown ? "" : " (\(url.absoluteString))"
        failure = Failure(
            exitCode: ExitCode(error), number: error.code.rawValue,
            sentence: "\(error.message)\(address)\(advice)")
    }

    /// Records the part that remains for a later run.
    mutating func recordPart(_ bytes: Int64, of total: Int64?, in file: String, hasValidator: Bool = true) {
        (partFile, partBytes, partTotal, self.hasValidator) = (file, bytes, total, hasValidator)
    }

    /// Records that a signal ended it.
    mutating func interrupt() {
        failure = Failure(
            exitCode: .interrupted, number: SessionError.Code.cancelled.rawValue,
            sentence: isOneOfMany ? "interrupted (\(requested.absoluteString))" : "interrupted")
    }

    /// The server's explanation beside the status, if it is short text.
    private static func sentence(status: Int, _ explanation: String, _ url: URL, _ content: Data?) -> String {
        var sentence = "\(status) \(reasonPhrase(forStatus: status)) (\(url.absoluteString))"
        if !explanation.isEmpty { sentence += ": \(explanation)" }
        if let content, !content.isEmpty, content.count <= 300 {
            let words = String(decoding: content, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            sentence += ": \(words.joined(separator: " "))"
        }
        return sentence
    }
}

/// The meaning of a status that is no success (RFC 9110 §15).
struct GetStatus: Equatable {
    /// The program's exit code.
    var exitCode: ExitCode
    /// The explanation beside the status; may be empty.
    var explanation = ""

    /// - Parameter isConditional: Whether the request permits an answer without content (`If-None-Match` …).
    init(_ status: Int, isConditional: Bool = false, hasLocation: Bool = false) {
        exitCode = ExitCode(status: status, isConditional: isConditional)
        switch status {
        case 304 where isConditional: explanation = "the server has nothing else than what the request names"
        case 304:
            explanation =
                "the request names nothing that could be unmodified; the server, or a cache before it, is broken"
        case 300..<400:
            explanation =
                hasLocation
                ? "this is no redirect that can be followed"
                : "the server does not say where to go (no Location)"
        default: break
        }
    }
}
