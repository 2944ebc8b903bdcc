// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
import HTTPTypes

/// Decides at which of several URLs of one content it is asked for next, and whether what has come is kept.
///
/// The URLs are asked in their order; one that has failed is asked again only in the next round, which begins
/// when a retrier wants another try, with the URL that gave content last. Where content is continued,
/// ``ResumeRules`` decide whether it may be, by a record that ``moved(_:to:isChecked:)`` has made.
///
/// | how a try ended                                   | asked next                  | what has come |
/// |---------------------------------------------------|-----------------------------|---------------|
/// | no connection, no trust, a status, silence        | the next URL                | kept          |
/// | the connection broke within the content           | the same, twice; the next   | kept          |
/// | the content contradicts its head or its encoding  | the next URL                | thrown away   |
/// | a wrong checksum, all content from one URL        | the next; this one no more  | thrown away   |
/// | a wrong checksum, content from several URLs       | the same, from the start 1  | thrown away   |
/// | anything that is not the URL's fault              | none                        | –             |
///
/// 1. From now on no content of two URLs is joined.
package struct MirrorRules: Sendable {
    /// How a try ended, as far as its URL is to blame.
    package enum Fault: Sendable, Equatable {
        /// The content cannot be had there now.
        case unavailable
        /// The connection broke within the content.
        case cut
        /// What came cannot be the content, or not all of it.
        case broken
        /// The whole content has another checksum.
        case wrongContent
    }

    /// What a try has brought.
    package enum Bytes: Sendable, Equatable {
        case none
        /// Content from its first byte on: nothing is left of what came before.
        case fromStart
        /// Content that was appended to what came before.
        case appended
    }

    /// What follows a failed try.
    package enum Step: Sendable, Equatable {
        /// Ask the URL with this number.
        case ask(Int, keepsPart: Bool)
        /// Each URL has failed in this round.
        case exhausted(keepsPart: Bool)
    }

    private struct Mirror {
        /// Its content has a wrong checksum.
        var isStruck = false
        /// It has failed in this round.
        var hasFailed = false
        /// How often its connection broke within the content in this round.
        var cuts = 0
        /// Bytes of what has come are from it.
        var hasGiven = false
    }

    /// The number of cuts that ends a URL's turn in a round.
    private static let cutLimit = 3

    private var mirrors: [Mirror]
    /// The number of the URL that is asked.
    package private(set) var current: Int
    /// The last that gave content.
    private var lastWorked: Int?
    /// What has come is of an earlier process, which may have asked several.
    private var hasUnknownPart: Bool
    /// Whether content of two URLs is joined.
    private var joins = true

    /// - Parameters:
    ///   - count: how many URLs there are, at least 1.
    ///   - first: the number of the URL that is asked first.
    ///   - hasPart: whether an earlier process has left a part of the content.
    package init(count: Int, first: Int = 0, hasPart: Bool = false) {
        mirrors = Array(repeating: Mirror(), count: max(count, 1))
        current = mirrors.indices.contains(first) ? first : 0
        hasUnknownPart = hasPart
    }

    /// Whether no URL is worth another try.
    package var isSpent: Bool { mirrors.allSatisfy(\.isStruck) }

    /// A try at the current URL has failed.
    package mutating func failed(_ fault: Fault, after bytes: Bytes) -> Step {
        received(bytes)
        var keepsPart = true
        switch fault {
        case .unavailable: mirrors[current].hasFailed = true
        case .cut:
            mirrors[current].cuts += 1
            mirrors[current].hasFailed = mirrors[current].cuts >= Self.cutLimit
        case .broken:
            mirrors[current].hasFailed = true
            keepsPart = false
        case .wrongContent:
            // Which of several URLs sent the wrong byte is unknown: this one alone comes next.
            if isJoined { joins = false } else { mirrors[current].isStruck = true }
            keepsPart = false
        }
        if !keepsPart { forgetPart() }
        let former = current
        guard let next = next else { return .exhausted(keepsPart: keepsPart) }
        current = next
        if next != former, !joins, keepsPart {
            forgetPart()
            keepsPart = false
        }
        return .ask(next, keepsPart: keepsPart)
    }

    /// Another round begins.
    package mutating func beginRound() {
        for index in mirrors.indices {
            mirrors[index].hasFailed = false
            mirrors[index].cuts = 0
        }
        if let lastWorked, !mirrors[lastWorked].isStruck {
            current = lastWorked
        } else if let next {
            current = next
        }
    }

    private mutating func received(_ bytes: Bytes) {
        if bytes == .none { return }
        if bytes == .fromStart { forgetPart() }
        mirrors[current].hasGiven = true
        lastWorked = current
    }

    private mutating func forgetPart() {
        for index in mirrors.indices { mirrors[index].hasGiven = false }
        hasUnknownPart = false
    }

    /// Whether more than one URL may have given what has come.
    private var isJoined: Bool { hasUnknownPart || mirrors.count { $0.hasGiven } > 1 }

    /// The URL that is asked now if it has not failed, else the first that has not.
    private var next: Int? {
        func isFit(_ index: Int) -> Bool { !mirrors[index].isStruck && !mirrors[index].hasFailed }
        return isFit(current) ? current : mirrors.indices.first(where: isFit)
    }
}

extension MirrorRules {
    /// What a failure says of the URL; nil where another URL would fail alike.
    ///
    /// - Parameters:
    ///   - status: of the response that came with the failure.
    ///   - hasContent: whether content came before it.
    package static func fault(
        _ code: SessionError.Code, status: Int?, hasContent: Bool
    ) -> Fault? {
        switch code {
        case .cannotFindHost, .cannotConnectToHost, .timedOut, .resourceUnavailable, .zeroByteResource,
            .tooManyRedirects, .badURL, .unsupportedURL:
            return .unavailable
        case .networkConnectionLost: return hasContent ? .cut : .unavailable
        case .badServerResponse: return [nil, 200, 206].contains(status) ? .broken : .unavailable
        case .cannotDecodeRawData, .cannotDecodeContentData, .cannotParseResponse, .dataLengthExceedsMaximum:
            return .broken
        case .checksumMismatch: return .wrongContent
        default: return code.isAboutTrust ? .unavailable : nil
        }
    }

    /// The record of a part as another URL may continue it: by its strong `ETag` alone, which both have to
    /// send, or with a checksum of the whole by nothing.
    ///
    /// Dates are of one server: files of two that are equally old need not be the same.
    package static func moved(_ record: ResumeRecord, to url: URL, isChecked: Bool) -> ResumeRecord {
        let tag = isChecked ? nil : record.eTag.flatMap { EntityTag($0) }
        let moved = try? ResumeRecord(
            url: url, method: record.method, eTag: tag?.isWeak == false ? tag?.text : nil,
            receivedBytes: record.receivedBytes, totalBytes: record.totalBytes,
            partialFile: record.partialFile)
        return moved ?? record
    }
}

extension SessionError.Code {
    /// Whether TLS failed, or the server's certificate.
    fileprivate var isAboutTrust: Bool { (-1206...(-1200)).contains(rawValue) }
}
