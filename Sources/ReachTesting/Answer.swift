// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

/// What a test answers in a server's place.
///
///     { request in request.path == "/v1/users/1" ? .json(user) : .status(404) }
///
/// Made by the functions below and changed by others: `.json(value).delayed(by: .seconds(5), on: clock)`.
public struct Answer: Sendable {
    /// A step of an answer; the first that is none of waiting sends the head before it.
    enum Step: Sendable {
        case content(Data)
        case wait(Duration, any Clock<Duration> & Sendable)
    }

    /// How the answer ends.
    enum End: Sendable {
        case complete
        /// The connection fails after so many bytes of content; before the head for nil.
        case failure(SessionError, after: Int64?)
        /// The path is gone after so many bytes; before the head for nil.
        case pathLost(String, after: Int64?)
        /// Nothing more comes.
        case silence
    }

    var status: Int
    var fields: [(name: String, value: String)] = []
    var version = HTTPVersion.http1_1
    var steps: [Step] = []
    var end = End.complete
    /// The whole content, of which the request may ask for a range.
    var file: Data?

    init(status: Int, headers: [String: String] = [:]) {
        self.status = status
        fields = headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    // MARK: Whole answers

    /// A status without content.
    public static func status(_ status: Int, headers: [String: String] = [:]) -> Answer {
        Answer(status: status, headers: headers)
    }

    /// Bytes of a media type.
    public static func data(
        _ data: Data, type: String = "application/octet-stream", status: Int = 200,
        headers: [String: String] = [:]
    ) -> Answer {
        var answer = Answer(status: status, headers: headers).typed(type)
        answer.steps = [.content(data)]
        return answer
    }

    /// Text in UTF-8.
    public static func text(
        _ text: String, type: String = "text/plain; charset=utf-8", status: Int = 200,
        headers: [String: String] = [:]
    ) -> Answer {
        data(Data(text.utf8), type: type, status: status, headers: headers)
    }

    /// A value as JSON; a document of any shape is a ``SessionCore/JSONValue``.
    ///
    /// A value that cannot be written fails the request, with the encoder's error underneath.
    public static func json(
        _ value: some Encodable, status: Int = 200, headers: [String: String] = [:],
        by encoder: JSONEncoder = JSONCoding.encoder()
    ) -> Answer {
        do {
            let content = try encoder.encode(value)
            return data(content, type: "application/json", status: status, headers: headers)
        } catch {
            return failure(
                SessionError(
                    .cannotDecodeContentData, "the test's answer cannot be written as JSON: \(error)",
                    underlying: error))
        }
    }

    /// A redirect to an address, which may be relative.
    public static func redirect(to address: String, status: Int = 302) -> Answer {
        Answer(status: status, headers: ["Location": address])
    }

    /// A file of a server, whose parts may be asked for (`Range`, `If-Range`, RFC 9110 §14).
    ///
    /// Downloads that lose their path or connection go on from the byte that they have.
    ///
    /// - Parameter etag: the version of the content, without quotes; a change has what came thrown away.
    public static func file(
        _ data: Data, etag: String, type: String = "application/octet-stream",
        headers: [String: String] = [:]
    ) -> Answer {
        var answer = Answer(status: 200, headers: headers).typed(type)
            .header("ETag", "\"\(etag)\"").header("Accept-Ranges", "bytes")
        answer.file = data
        return answer
    }

    /// Content in chunks of an unknown number, with a pause before each but the first.
    ///
    /// - Parameters:
    ///   - pause: between two chunks.
    ///   - clock: by which the pauses pass; a ``ManualClock`` makes them exact and costs no time.
    public static func chunks(
        _ chunks: [Data], every pause: Duration = .zero,
        on clock: some Clock<Duration> & Sendable = ContinuousClock(),
        type: String = "application/octet-stream", status: Int = 200, headers: [String: String] = [:]
    ) -> Answer {
        var answer = Answer(status: status, headers: headers).typed(type)
        for (index, chunk) in chunks.enumerated() {
            if index > 0, pause > .zero { answer.steps.append(.wait(pause, clock)) }
            answer.steps.append(.content(chunk))
        }
        return answer.header("Transfer-Encoding", "chunked")
    }

    // MARK: What is none

    /// A failure instead of an answer, such as `.failure(.cannotConnectToHost)`.
    public static func failure(_ code: SessionError.Code) -> Answer { failure(SessionError(answered: code)) }

    /// An error instead of an answer.
    public static func failure(_ error: SessionError) -> Answer {
        var answer = Answer(status: 200)
        answer.end = .failure(error, after: nil)
        return answer
    }

    /// No answer: the path is lost when the request has been sent.
    ///
    /// The request is sent again where it may be (RFC 9110 §9.2.2); of others the outcome is unknown.
    public static func pathLost(_ sentence: String = "eth0: no carrier") -> Answer {
        var answer = Answer(status: 200)
        answer.end = .pathLost(sentence, after: nil)
        return answer
    }

    /// No answer at all: the request waits until a limit of time passes or it is cancelled.
    public static var silence: Answer {
        var answer = Answer(status: 200)
        answer.end = .silence
        answer.status = 0
        return answer
    }
}
