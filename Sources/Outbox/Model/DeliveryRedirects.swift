// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore

/// Follows the redirects that take the same request to the same server, as far as that can be known.
///
/// Any other redirect is the answer, and ``DeliveryVerdict`` judges it:
///
/// - A redirect that turns POST into GET delivers nothing: 303, and 301 and 302 of POST (RFC 9110 §15.4).
/// - A request with secrets (``SecretField``, `Authorization`, a user in the URL) is not redirected to
///   another origin, since without them it would only be refused there.
/// - A request is never redirected from https to http.
/// - A redirect received by http may be a captive portal's, so it is followed only where that does no harm:
///   on the same host, to https, or with 307 and 308.
struct DeliveryRedirects: RedirectHandler {
    /// The header fields with secrets.
    private let secrets: [HTTPField.Name]

    init(secrets: [SecretField]) { self.secrets = secrets.compactMap { HTTPField.Name($0.name) } }

    func redirect(
        to proposed: SessionRequest, from request: SessionRequest, response: SessionResponse
    ) async -> SessionRequest? {
        follows(from: request, to: proposed, status: response.statusCode ?? 0) ? proposed : nil
    }

    func follows(from request: SessionRequest, to proposed: SessionRequest, status: Int) -> Bool {
        guard status != 303, proposed.method == request.method,
            (proposed.body == nil) == (request.body == nil), let here = Origin(request.url),
            let there = Origin(proposed.url)
        else { return false }
        if here != there, !isWhole(proposed, of: request) { return false }
        if here.isSecure { return there.isSecure }
        return here.host == there.host && (there.isSecure || status == 307 || status == 308)
    }

    /// Whether the redirected request keeps all fields.
    private func isWhole(_ proposed: SessionRequest, of request: SessionRequest) -> Bool {
        guard request.url.user == nil, !secrets.contains(where: { request.headerFields[$0] != nil }) else {
            return false
        }
        return request.headerFields.allSatisfy { field in
            Self.ofTheOrigin.contains(field.name.canonicalName)
                || proposed.headerFields[values: field.name].contains(field.value)
        }
    }

    /// Fields that differ for another origin anyway.
    private static let ofTheOrigin = ["host", "origin", "referer"]
}
