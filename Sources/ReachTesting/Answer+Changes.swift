// SPDX-License-Identifier: Apache-2.0

public import SessionCore

// What changes an answer.
extension Answer {
    /// The answer with another header field; one of the same name stays.
    public func header(_ name: String, _ value: String) -> Answer {
        var answer = self
        answer.fields.append((name, value))
        return answer
    }

    /// The answer in another version of HTTP; HTTP/1.1 unless said.
    public func version(_ version: HTTPVersion) -> Answer {
        var answer = self
        answer.version = version
        return answer
    }

    /// The answer after a delay, before its head.
    ///
    /// - Parameter clock: by which the delay passes; a ``ManualClock`` makes it exact and costs no time.
    public func delayed(
        by delay: Duration, on clock: some Clock<Duration> & Sendable = ContinuousClock()
    ) -> Answer {
        var answer = self
        answer.steps.insert(.wait(delay, clock), at: 0)
        return answer
    }

    /// The answer whose path is lost after so many bytes of content.
    ///
    /// What came counts: a download goes on from there where the server sends an `ETag`, as
    /// ``file(_:etag:type:headers:)`` does.
    ///
    /// - Parameter sentence: why, as in events and errors.
    public func losingPath(after bytes: Int64, _ sentence: String = "eth0: no carrier") -> Answer {
        var answer = self
        answer.end = .pathLost(sentence, after: bytes)
        return answer
    }

    /// The answer whose connection breaks after so many bytes of content.
    public func breaking(
        after bytes: Int64, with code: SessionError.Code = .networkConnectionLost
    ) -> Answer {
        var answer = self
        answer.end = .failure(SessionError(answered: code), after: bytes)
        return answer
    }

    func typed(_ type: String) -> Answer {
        has("content-type") ? self : header("Content-Type", type)
    }

    func has(_ name: String) -> Bool { fields.contains { $0.name.lowercased() == name } }
}

extension SessionError {
    /// A failure that a test answers, in the words of a real one.
    package init(answered code: Code) {
        let results: [Code: Int32] = [
            .cannotFindHost: 6, .cannotConnectToHost: 7, .timedOut: 28, .secureConnectionFailed: 35,
            .networkConnectionLost: 56,
        ]
        if let result = results[code] {
            self.init(transport: TransportFailure(curlCode: result, message: "as the test answers"))
        } else {
            self.init(code, "the test answers with failure \(code.rawValue)")
        }
    }
}
