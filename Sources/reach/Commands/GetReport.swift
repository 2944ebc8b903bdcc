// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import SessionManager

/// What a `reach get` has done, for a sentence, for JSON and for the exit code.
struct GetReport: Sendable {
    /// Why it failed.
    struct Failure: Sendable, Equatable {
        var exitCode: ExitCode
        /// The number of the error; nil where only the status is the reason.
        var number: Int?
        /// What happened and what to try.
        var sentence: String
    }

    /// Where the answer came from, after redirects; without user and password.
    private(set) var url: URL
    private(set) var host: String
    private(set) var status: Int?
    private(set) var version: HTTPVersion?
    private(set) var remote: String?
    /// The checksum that was asked for.
    let expected: [UInt8]?
    /// The content's bytes that came this time.
    var bytes: Int64 = 0
    /// What the server says there is in all.
    var total: Int64?
    /// The bytes of the whole; nil where it is not complete.
    var size: Int64?
    /// The bytes that were there already.
    var resumedAt: Int64 = 0
    /// The file was there already and is right.
    var wasComplete = false
    var elapsed: Duration = .zero
    var file: String?
    /// Whether the request asks for content only if there is other than it names.
    var isConditional = false
    /// How often it was tried again.
    var retries = 0
    private(set) var keptFile: String?
    /// Whether `--resume` goes on with that as it is; otherwise only where a checksum tells if the file is
    /// right.
    private(set) var keepsValidator = true
    private(set) var keptBytes: Int64 = 0
    /// How many bytes there are where those are from.
    private(set) var keptTotal: Int64?
    var hash: [UInt8]?
    var isOnStandardOutput = false
    /// Whether the content did not end with a line feed.
    var leavesLineOpen = false
    private(set) var failure: Failure?

    init(url: URL, expected: [UInt8]? = nil) {
        self.url = url.withoutUser
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

    /// Notes why it failed.
    mutating func fail(_ error: SessionError) {
        record(error.response, [])
        if let status, status >= 300, error.code == .badServerResponse {
            let verdict = GetStatus(
                status, isConditional: isConditional,
                hasLocation: error.response?.value(forField: "location") != nil)
            failure = Failure(
                exitCode: verdict.exitCode, number: error.code.rawValue,
                sentence: Self.sentence(status: status, verdict.explanation, url, error.data))
            return
        }
        let advice = error.spokenAdvice.isEmpty ? "" : "; \(error.spokenAdvice)"
        let place = error.code == .checksumMismatch || error.isAboutFiles ? "" : " (\(url.absoluteString))"
        failure = Failure(
            exitCode: ExitCode(error), number: error.code.rawValue,
            sentence: "\(error.message)\(place)\(advice)")
    }

    /// Records the part that is kept for a later run.
    mutating func keep(_ bytes: Int64, of total: Int64?, in file: String, goesOn: Bool = true) {
        (keptFile, keptBytes, keptTotal, keepsValidator) = (file, bytes, total, goesOn)
    }

    /// A signal was the reason.
    mutating func interrupt() {
        failure = Failure(
            exitCode: .interrupted, number: SessionError.Code.cancelled.rawValue, sentence: "interrupted")
    }

    /// What a server says beside the status, if it is short text.
    private static func sentence(
        status: Int, _ explanation: String, _ url: URL, _ content: Data?
    ) -> String {
        var sentence = "\(status) \(reasonPhrase(forStatus: status)) (\(url.absoluteString))"
        if !explanation.isEmpty { sentence += ": \(explanation)" }
        if let content, !content.isEmpty, content.count <= 300 {
            let words = String(decoding: content, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            sentence += ": \(words.joined(separator: " "))"
        }
        return sentence
    }

    /// The checksum as sha256sum(1) writes it.
    static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
