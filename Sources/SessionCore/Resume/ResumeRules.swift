// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes

/// How a download continues.
package enum ResumePlan: Sendable {
    /// Nothing is missing.
    case complete
    /// The missing bytes are asked for.
    case resume(SessionRequest)
    /// Everything is asked for: nothing has come, or nothing shows whether the file is still the same.
    case restart(SessionRequest)
}

/// What a response to a resumed download means for the partial file.
package enum ResumeAnswer: Sendable {
    /// The content continues the partial file at `offset` and ends before `end`, the whole has `total` bytes.
    case append(offset: Int64, end: Int64, total: Int64?)
    /// The content is the whole: the partial file is emptied and written anew.
    case restart
    /// The content is of no use: it is asked for again, without a range.
    case requestWhole(SessionRequest)
    /// The partial file is the whole.
    case complete
    /// The task fails; the partial file and the record stay good.
    case failure(SessionError)
}

/// What the end of a partial response means for the partial file.
package enum ResumeEnd: Sendable {
    /// Nothing is missing.
    case complete
    /// The server has sent less than what was asked for (RFC 9110 §15.3.7): the record counts the bytes of
    /// the file now.
    case missing(ResumeRecord)
    /// The task fails.
    case failure(SessionError)
}

/// Decides how a download that was cut off continues (RFC 9110 §13.1.5, §14, §15.3.7, §15.5.17).
package struct ResumeRules: Sendable {
    private let record: ResumeRecord
    private let base: SessionRequest
    /// Whether a checksum will show that the bytes belong together, so that nothing else has to.
    private let isChecked: Bool
    /// Whether the server is another one than the part came from, which may have compared nothing.
    private let isMirror: Bool

    /// Rules for one download.
    ///
    /// `base` brings header fields and options; its URL and method are those of the record. What is secret
    /// and meant for another origin than the record's is left out, and with another method the content.
    package init(
        record: ResumeRecord, base: SessionRequest? = nil,
        keepingBack sensitiveFields: SensitiveFields = .init(),
        isChecked: Bool = false
    ) {
        self.record = record
        self.isChecked = isChecked
        isMirror = false
        var request = base ?? SessionRequest(url: record.url)
        request = request.moved(to: record.url, keepingBack: sensitiveFields)
        let method = HTTPRequest.Method(record.method) ?? .get
        if request.method != method { request.dropContent() }
        request.method = method
        self.base = request
    }

    /// Rules for the answer to a request of ``plan``, or to what redirects have made of it.
    ///
    /// - Parameter isMirror: whether another server may have sent what has come.
    package init(
        record: ResumeRecord, asked request: SessionRequest, isChecked: Bool = false, isMirror: Bool = false
    ) {
        self.record = record
        self.isChecked = isChecked
        self.isMirror = isMirror
        base = request
    }

    /// What is to be sent.
    package var plan: ResumePlan {
        if let total = record.totalBytes, total == record.receivedBytes { return .complete }
        let validator = strongValidator
        guard record.receivedBytes > 0, validator != nil || isChecked else { return .restart(whole) }
        var request = whole
        request.headerFields[.range] = "bytes=\(record.receivedBytes)-"
        request.headerFields[.ifRange] = validator
        // Ranges count encoded bytes, and the partial file has decoded ones: they are the same only without
        // an encoding.
        request.headerFields[.acceptEncoding] = "identity"
        request.options.decompressesContent = false
        return .resume(request)
    }

    /// What the answer to the request of ``plan`` means.
    package func judge(_ response: SessionResponse) -> ResumeAnswer {
        switch response.statusCode {
        case 206: partial(response)
        case 416: unsatisfied(response)
        case 200, 203: .restart
        default:
            .failure(
                SessionError(
                    .badServerResponse,
                    "the server answers with status \(response.statusCode ?? 0) instead of the missing bytes",
                    advice: "what has come is kept; try again later", failingURL: record.url,
                    response: response))
        }
    }

    /// What it means that an answer of status 206, judged as ``ResumeAnswer/append(offset:end:total:)``, has
    /// ended in good order when the file had `count` bytes.
    package func ended(_ response: SessionResponse, at count: Int64) -> ResumeEnd {
        guard case .append(let offset, let end, let total) = judge(response) else { return .complete }
        if count > end {
            return .failure(
                failure("the server has sent \(count - offset) bytes and announced \(end - offset)", response)
            )
        }
        if count == total { return .complete }
        guard count > offset else {
            return .failure(failure("the server has sent none of the bytes that it announced", response))
        }
        do throws(SessionError) {
            return .missing(try record.with(receivedBytes: count, totalBytes: total))
        } catch {
            return .failure(error)
        }
    }

    /// What is wrong with an answer of status 206 to a request for the whole, which must not be answered with
    /// a part (RFC 9110 §15.3.7).
    ///
    /// The file would lack the rest. nil for any other, and where the part is the whole.
    package static func unaskedPart(_ request: SessionRequest, _ response: SessionResponse) -> SessionError? {
        guard response.statusCode == 206, request.headerFields[.range] == nil else { return nil }
        let range = response.value(forHeader: "content-range").flatMap { ContentRange($0) }
        if let bytes = range?.bytes, bytes.lowerBound == 0, bytes.upperBound + 1 == range?.completeLength {
            return nil
        }
        return SessionError(
            .badServerResponse, "the server answers a request for the whole with a part of it (status 206)",
            advice: "the server, or a proxy before it, is broken: ask its operator", failingURL: request.url,
            response: response)
    }

    private func failure(_ words: String, _ response: SessionResponse) -> SessionError {
        SessionError(
            .badServerResponse, words,
            advice: "download from the beginning; if it happens again, the server is broken",
            failingURL: record.url, response: response)
    }

    /// Whether a cut answer to a request is resumed by the next try: missing bytes can be asked for
    /// under a strong validator.
    package static func canContinue(_ request: SessionRequest, response: SessionResponse) -> Bool {
        guard request.method == .get, request.headerFields[.range] == nil, !response.isEncoded,
            response.statusCode == 200 || response.statusCode == 206,
            response.value(forHeader: "accept-ranges")?.lowercased() != "none",
            let record = try? ResumeRecord(
                request: request, response: response, receivedBytes: 1, totalBytes: nil, partialFile: "-"),
            case .resume = ResumeRules(record: record).plan
        else { return false }
        return true
    }

    /// Whether a record of this download would be worth keeping: a GET of a whole file, unencoded, with a
    /// validator or a checksum to recognise it by.
    package static func canRecord(
        _ request: SessionRequest, response: SessionResponse, isChecked: Bool = false
    ) -> Bool {
        request.method == .get && request.headerFields[.range] == nil && response.statusCode == 200
            && !response.isEncoded
            && (isChecked
                || (response.value(forHeader: "etag") ?? response.value(forHeader: "last-modified")) != nil)
            && response.value(forHeader: "accept-ranges")?.lowercased() != "none"
    }

    private func partial(_ response: SessionResponse) -> ResumeAnswer {
        guard let text = response.value(forHeader: "content-range"), let range = ContentRange(text),
            let bytes = range.bytes, bytes.lowerBound == record.receivedBytes,
            !response.isEncoded, isSameFile(response)
        else { return .requestWhole(whole) }
        if let total = record.totalBytes, total != range.completeLength ?? total {
            return .requestWhole(whole)
        }
        // What the fields say of the length contradicts itself: which bytes these are is unknown.
        if let text = response.value(forHeader: "content-length"), Int64(text) != Int64(bytes.count) {
            return .requestWhole(whole)
        }
        let total = range.completeLength ?? record.totalBytes
        if let total, bytes.upperBound >= total { return .requestWhole(whole) }
        return .append(offset: bytes.lowerBound, end: bytes.upperBound + 1, total: total)
    }

    /// The server has nothing after the bytes that are there, so either these are all, or the file has
    /// changed.
    private func unsatisfied(_ response: SessionResponse) -> ResumeAnswer {
        let range = response.value(forHeader: "content-range").flatMap { ContentRange($0) }
        guard range?.completeLength == record.receivedBytes,
            record.receivedBytes == record.totalBytes ?? record.receivedBytes,
            isSameFile(response)
        else { return .requestWhole(whole) }
        return .complete
    }

    /// Whether the response is about the file of the record.
    ///
    /// A part has the tag that the whole has (RFC 9110 §15.3.7): without one the server has compared nothing.
    /// A part may lack the date that `If-Range` had, and an answer of status 416 has no validators.
    private func isSameFile(_ response: SessionResponse) -> Bool {
        if let mine = record.eTag.flatMap({ EntityTag($0) }) {
            if let text = response.value(forHeader: "etag") {
                return EntityTag(text).map(isChecked ? mine.matchesWeakly : mine.matchesStrongly) ?? false
            }
            if !isChecked, isMirror || response.statusCode == 206 { return false }
        }
        guard let mine = record.lastModified else { return true }
        if let theirs = response.value(forHeader: "last-modified") { return mine == theirs }
        return isChecked || Origin(response.url) == Origin(record.url)
    }

    /// What `If-Range` may carry: a strong tag, or a date at least a second older than the response (RFC 9110
    /// §8.8.2.2, §13.1.5).
    private var strongValidator: String? {
        if let text = record.eTag {
            // With a weak tag a date must not be used either: the server would have said if it were strong.
            guard let tag = EntityTag(text), !tag.isWeak else { return nil }
            return tag.text
        }
        let epoch = HTTPDate(seconds: 0)
        guard let modified = record.lastModified, let text = record.date,
            let modifiedAt = HTTPDate(modified, now: epoch), let sentAt = HTTPDate(text, now: epoch),
            sentAt.seconds - modifiedAt.seconds >= 1
        else { return nil }
        return modified
    }

    /// What is sent where resuming is impossible.
    package var whole: SessionRequest { Self.whole(base) }

    /// A request for everything instead of a part.
    package static func whole(_ request: SessionRequest) -> SessionRequest {
        var request = request
        request.headerFields[.range] = nil
        request.headerFields[.ifRange] = nil
        return request
    }
}
