// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// Which URLs of a download are still worth a try, over all attempts.
///
/// Within an attempt the session manager asks them in their order (`MirrorRules`). One that has refused for
/// good, or whose content has another checksum, is struck: it is not asked in later attempts, since it would
/// be fetched in vain again and again. When each is struck, the download is given up.
struct MirrorStrikes: Sendable, Equatable {
    /// The most URLs, the request's own included.
    static let most = 17

    private let urls: [URL]
    /// A bit for each URL.
    private(set) var struck: Int64
    /// The number of the URL that is asked: at first the first one.
    private var current: Int?
    /// The last failure that may pass, and the last one that does not.
    private var passing: OutboxFailure?
    private var lasting: OutboxFailure?

    init(_ urls: [URL], struck: Int64 = 0) {
        (self.urls, self.struck) = (urls, struck)
        current = openIndices.first
    }

    /// The URLs that are asked, in their order; empty if each is struck.
    var open: [URL] { openIndices.map { urls[$0] } }
    private var openIndices: [Int] { urls.indices.filter { struck & (1 << Int64($0)) == 0 } }

    /// A request goes to this URL, or to another one to which a redirect leads.
    mutating func asked(_ url: URL) {
        // A mirror of the same origin is asked with the user of the first URL.
        if let index = urls.firstIndex(where: { $0.withoutUser == url.withoutUser }) { current = index }
    }

    /// The URL that is asked has failed.
    ///
    /// - Parameters:
    ///   - next: the URL that is asked next in this attempt; nil for none.
    ///   - isJoined: whether bytes of an earlier attempt may be to blame, so that one more try is due.
    mutating func failed(_ verdict: DeliveryVerdict, next: URL? = nil, isJoined: Bool = false) {
        let index = current
        if let next { asked(next) }
        switch verdict {
        case .retry(let failure): passing = failure
        case .dead(let failure):
            // The same URL again, now without what others have given.
            if isJoined || next != nil && index == current { return passing = failure }
            lasting = failure
            if let index { struck |= 1 << Int64(index) }
        case .delivered, .untried: break
        }
    }

    /// What follows the attempt.
    var verdict: DeliveryVerdict {
        guard open.isEmpty else {
            guard let failure = passing ?? lasting else { return .untried }
            return .retry(
                failure.isPassing
                    ? failure : OutboxFailure(.server, failure.message, statusCode: failure.statusCode))
        }
        let failure = lasting ?? OutboxFailure(.refused, "each of its URLs has refused before")
        let others = urls.count > 1 ? ", the last of \(urls.count) URLs" : ""
        return .dead(OutboxFailure(failure.kind, failure.message + others, statusCode: failure.statusCode))
    }
}
