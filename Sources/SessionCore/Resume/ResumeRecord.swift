// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
import HTTPTypes

/// What is needed to resume a download that was cut off: where it came from, how far it got, and how to
/// show whether the file on the server is still the same.
///
/// Written down with ``encoded()`` it survives the process. It holds no header fields of the request, thus no
/// credentials, except those that stand in the URL itself.
public struct ResumeRecord: Sendable, Equatable {
    /// Where the bytes came from: the URL that was asked for, before redirects, unless these have made a GET
    /// of another method.
    public let url: URL
    /// The method; GET almost always.
    public let method: String
    /// The `ETag` of the response, as it came.
    public let eTag: String?
    /// The `Last-Modified` of the response, as it came.
    public let lastModified: String?
    /// The `Date` of the response, as it came: shows whether `Last-Modified` can be relied upon (RFC 9110
    /// §8.8.2.2).
    public let date: String?
    /// How many bytes the partial file has.
    public let receivedBytes: Int64
    /// How many bytes the whole has; nil where the server did not say.
    public let totalBytes: Int64?
    /// The file with the bytes so far.
    public let partialFile: String

    /// A record.
    ///
    /// - Throws: ``SessionError/Code/badResumeRecord`` where a part is impossible: no http or https URL, a negative length or one
    ///   beyond 2⁶², more bytes than there are, a validator with control characters, a file name that is
    ///   empty or has a NUL.
    public init(
        url: URL, method: String = "GET", eTag: String? = nil, lastModified: String? = nil,
        date: String? = nil,
        receivedBytes: Int64, totalBytes: Int64? = nil, partialFile: String
    ) throws(SessionError) {
        self.url = url
        self.method = method
        self.eTag = eTag
        self.lastModified = lastModified
        self.date = date
        self.receivedBytes = receivedBytes
        self.totalBytes = totalBytes
        self.partialFile = partialFile
        try check()
    }

    /// A record of a download that has so many bytes of the content which `response` announced.
    ///
    /// - Throws: ``SessionError/Code/badResumeRecord``, as the other initializer.
    public init(
        request: SessionRequest, response: SessionResponse, receivedBytes: Int64, totalBytes: Int64?,
        partialFile: String
    ) throws(SessionError) {
        try self.init(
            url: request.url, method: request.method.rawValue, eTag: response.value(forHeader: "etag"),
            lastModified: response.value(forHeader: "last-modified"), date: response.value(forHeader: "date"),
            receivedBytes: receivedBytes, totalBytes: totalBytes, partialFile: partialFile)
    }

    /// The same download some bytes later.
    public func with(receivedBytes: Int64) throws(SessionError) -> ResumeRecord {
        try ResumeRecord(
            url: url, method: method, eTag: eTag, lastModified: lastModified, date: date,
            receivedBytes: receivedBytes, totalBytes: totalBytes, partialFile: partialFile)
    }

    /// The same download some bytes later, of a length that has become known.
    package func with(receivedBytes: Int64, totalBytes: Int64?) throws(SessionError) -> ResumeRecord {
        try ResumeRecord(
            url: url, method: method, eTag: eTag, lastModified: lastModified, date: date,
            receivedBytes: receivedBytes, totalBytes: totalBytes, partialFile: partialFile)
    }

    private func check() throws(SessionError) {
        guard Origin(url) != nil else { throw Self.bad("its URL is neither http nor https") }
        guard HTTPRequest.Method(method) != nil else { throw Self.bad("\(TextQuote(method)) is no method") }
        // Beyond any file; a sum with what comes must not overflow.
        guard (0...1 << 62).contains(receivedBytes) else {
            throw Self.bad("it counts \(receivedBytes) bytes")
        }
        if let totalBytes, totalBytes < receivedBytes {
            throw Self.bad("it counts \(receivedBytes) bytes of \(totalBytes)")
        }
        for text in [eTag, lastModified, date] {
            guard text?.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) ?? true else {
                throw Self.bad("a validator has control characters")
            }
        }
        guard !partialFile.isEmpty, !partialFile.utf8.contains(0) else {
            throw Self.bad("it does not name the partial file")
        }
    }

    static func bad(_ reason: String, underlying: (any Error)? = nil) -> SessionError {
        SessionError(
            .badResumeRecord, "the record of the download cannot be used: \(reason)",
            advice: "download from the beginning", underlying: underlying)
    }
}

extension ResumeRecord {
    /// The record as JSON text, to be kept beside the partial file.
    ///
    /// - Throws: ``SessionError/Code/badResumeRecord`` where it cannot be written, which does not happen for
    ///   a record that could be made.
    public func encoded() throws(SessionError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = ResumeRecordText(
            version: ResumeRecordText.version, url: url.absoluteString, method: method, eTag: eTag,
            lastModified: lastModified, date: date, receivedBytes: receivedBytes, totalBytes: totalBytes,
            partialFile: partialFile)
        do { return try encoder.encode(text) } catch {
            throw Self.bad("it cannot be written", underlying: error)
        }
    }

    /// Reads what ``encoded()`` wrote.
    ///
    /// - Throws: ``SessionError/Code/badResumeRecord`` for anything else: garbage, a record of a later
    ///   version, impossible numbers.
    public init(encoded data: Data) throws(SessionError) {
        guard data.count <= 65_536 else { throw Self.bad("it has \(data.count) bytes") }
        let text: ResumeRecordText
        do { text = try JSONDecoder().decode(ResumeRecordText.self, from: data) } catch {
            throw Self.bad("it is damaged or no such record", underlying: error)
        }
        guard text.version == ResumeRecordText.version else {
            throw Self.bad("its version is \(text.version), which this program does not know")
        }
        guard let url = URL(string: text.url, encodingInvalidCharacters: false) else {
            throw Self.bad("\(TextQuote(text.url)) is no URL")
        }
        try self.init(
            url: url, method: text.method, eTag: text.eTag, lastModified: text.lastModified, date: text.date,
            receivedBytes: text.receivedBytes, totalBytes: text.totalBytes, partialFile: text.partialFile)
    }
}

/// The names in the JSON text.
private struct ResumeRecordText: Codable {
    static let version = 1

    var version: Int
    var url: String
    var method: String
    var eTag: String?
    var lastModified: String?
    var date: String?
    var receivedBytes: Int64
    var totalBytes: Int64?
    var partialFile: String
}
