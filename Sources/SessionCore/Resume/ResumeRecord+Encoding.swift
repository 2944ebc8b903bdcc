// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

extension ResumeRecord {
    /// The record as JSON text, to be kept beside the partial file.
    ///
    /// - Throws: ``SessionError/Code/badResumeRecord`` where it cannot be written, which does not happen for a record that could be made.
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
    /// - Throws: ``SessionError/Code/badResumeRecord`` for anything else: garbage, a record of a later version, impossible numbers.
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
