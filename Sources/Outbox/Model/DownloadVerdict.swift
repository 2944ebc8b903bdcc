// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import SessionCore

extension DeliveryVerdict {
    /// Judges a failed download by its error: unlike for a request, a status alone delivers nothing.
    ///
    /// - Parameters:
    ///   - statusCode: of the response that came with the failure.
    ///   - fillsSecrets: whether secrets were filled in that may differ with the next attempt.
    ///   - asksForLater: whether the response has `Retry-After`.
    init(
        download error: SessionError, statusCode: Int?, fillsSecrets: Bool = false, asksForLater: Bool = false
    ) {
        switch error.code {
        case .cancelled, .invalidated: self = .untried
        case .checksumMismatch: self = .dead(OutboxFailure(.refused, error.message))
        case .dataLengthExceedsMaximum:
            self = .dead(
                OutboxFailure(.refused, "\(error.message), which is the limit for files (outbox.fetch.bytes)")
            )
        case .cannotWriteToFile, .cannotCreateFile, .cannotMoveFile, .cannotOpenFile, .fileDoesNotExist,
            .noPermissionsToReadFile:
            self = .retry(OutboxFailure(.local, error.message))
        case .badServerResponse where statusCode != nil && statusCode != 200 && statusCode != 206:
            let status = statusCode ?? 0
            let judged = DeliveryVerdict(
                statusCode: status, fillsSecrets: fillsSecrets, asksForLater: asksForLater)
            guard case .delivered = judged else {
                self = judged
                return
            }
            self = .retry(
                OutboxFailure(.server, "the server answered \(status), and no file", statusCode: status))
        default: self = DeliveryVerdict(error: error, statusCode: nil)
        }
    }
}

/// Follows the redirects of a download.
///
/// Without a checksum the content is only as good as its way: from https to https, and from http to the same
/// host alone, since a captive portal would redirect it to its page. Fields with secrets stay with their
/// origin.
struct DownloadRedirects: RedirectHandler {
    /// Whether a checksum is compared.
    let isChecked: Bool

    func redirect(
        to proposed: SessionRequest, from request: SessionRequest, response: SessionResponse
    ) async -> SessionRequest? {
        follows(from: request, to: proposed) ? proposed : nil
    }

    func follows(from request: SessionRequest, to proposed: SessionRequest) -> Bool {
        guard let here = Origin(request.url), let there = Origin(proposed.url) else { return false }
        if isChecked { return true }
        return here.isSecure ? there.isSecure : here.host == there.host
    }
}
