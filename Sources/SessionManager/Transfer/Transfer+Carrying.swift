// SPDX-License-Identifier: Apache-2.0

import CCurl
package import FoundationEssentials
package import SessionCore

/// What became of bytes that a carrier has handed over.
package enum HandedBytes: Sendable {
    case consumed
    /// None was taken: they are handed over again after ``TransferCarrier/resume(_:)``.
    case held
    /// The transfer has failed; ``Transfer/finish(_:metrics:)`` says why.
    case refused
}

/// A part of a request's body.
package enum BodyPart: Sendable {
    case bytes(Int)
    case end
    /// Nothing yet: asked for again after ``TransferCarrier/resume(_:)``.
    case notYet
    /// The transfer has failed.
    case failed
}

/// What a carrier of another module does with a transfer, in the place of libcurl's callbacks.
///
/// `hand`, `nextBodyPart` and `willSend` are called inside ``EngineTurn/callLibcurl(_:)``.
extension Transfer {
    /// Its task, while it is under way.
    package var task: SessionTask? { (delegate as? RequestExecutor)?.task }

    /// Whether the head of the response has come.
    package var hasHead: Bool { response != nil }

    /// Whether it waits in the queue of its origin.
    package var waitsForSlot: Bool { slot.ticket != nil }

    /// What libcurl would authenticate with in several rounds: the scheme's name and the user; nil for
    /// nothing.
    package var libraryAuthentication: (scheme: String, user: String, isProxy: Bool)? {
        credentials.map { ("\($0.scheme)", $0.user, $0.isProxy) }
    }

    /// The length of the body in bytes; nil where it is not known or sent in chunks.
    package var announcedBodyLength: Int64? { SentFields(request).isChunked ? nil : body.length }

    /// The lines of the header fields, as libcurl gets them: `Name: value`, `Name;` for an empty value,
    /// `Name:` for one of its own that is left out.
    package var headerLines: [String] {
        var lines: [String] = []
        let sent = SentFields(request)
        EasyHandle.headerLines(of: request, sent, expects: sent.expectsContinue) { lines.append($0) }
        if let cookies = sent.cookies { lines.append("Cookie: \(cookies)") }
        return lines
    }

    /// Fills a buffer with the next bytes of the body.
    package func nextBodyPart(into buffer: UnsafeMutableRawBufferPointer) -> BodyPart {
        guard request.body != nil else { return .end }
        let count = fill(buffer)
        return switch count {
        case 0: .end
        case Int(CCURL_READ_PAUSE): .notYet
        case Int(CCURL_READ_ABORT): .failed
        default: .bytes(count)
        }
    }

    /// Hands over a whole head: first line, fields, empty line.
    package func hand(head: Data) -> HandedBytes {
        head.withUnsafeBytes { received(head: $0) } ? .consumed : .refused
    }

    /// Hands over content, at most 16 KiB as libcurl does.
    package func hand(content: Data) -> HandedBytes {
        guard !content.isEmpty else { return .consumed }
        let count = content.withUnsafeBytes { received(content: $0) }
        return count == content.count ? .consumed : count == Int(CCURL_WRITE_PAUSE) ? .held : .refused
    }

    /// Ends it; an error is one of the way to the server.
    package func finish(_ failure: SessionError?, metrics: TransferMetrics) {
        if let failure, failure.code.isUnconnected, response == nil { stay() }
        let error = error(failure)
        end(TransferEnd(error: error, metrics: Shared(metrics)))
    }

    /// Its connection's path has died, with a sentence that says why; it goes on over another one where its
    /// request allows that.
    package func losePath(_ sentence: String) {
        delegate?.transferLostPath(self, PathLoss(sentence: sentence))
    }
}
