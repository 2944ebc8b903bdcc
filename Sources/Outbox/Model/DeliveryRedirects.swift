// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore

/// Which redirects a delivery follows: those by which the same request reaches the same server, as far as
/// that can be known.
///
/// Every other one is the answer, and ``DeliveryVerdict`` judges it:
///
/// - What makes a GET of a POST brings the server nothing: 303 always, 301 and 302 of POST (RFC 9110 §15.4.2
///   to §15.4.4).
/// - Secrets stay with the origin they were meant for (``SecretField``, `Authorization`, a user in the URL),
///   and without them the request would only be refused elsewhere: with them it goes nowhere else at all.
/// - Nothing goes from https to http.
/// - What came by http may be of a network that wants a sign-in and not of the server, and is believed only as far as that does no harm:
///   on the same host, to https, or by 307 and 308.
struct DeliveryRedirects: RedirectHandler {
    /// The fields that were filled in.
    private let secrets: [HTTPField.Name]

    /// - Parameter secrets: the fields of the request that were filled in when it was sent.
    init(secrets: [SecretField]) { self.secrets = secrets.compactMap { HTTPField.Name($0.name) } }

    func redirect(
        to proposed: SessionRequest, from request: SessionRequest, response: SessionResponse
    ) async -> SessionRequest? {
        follows(from: request, to: proposed, status: response.statusCode ?? 0) ? proposed : nil
    }

    /// Whether it is followed.
    func follows(from request: SessionRequest, to proposed: SessionRequest, status: Int) -> Bool {
        guard status != 303, proposed.method == request.method,
            (proposed.body == nil) == (request.body == nil), let here = Origin(request.url),
            let there = Origin(proposed.url)
        else { return false }
        if here != there, !isWhole(proposed, of: request) { return false }
        if here.isSecure { return there.isSecure }
        return here.host == there.host && (there.isSecure || status == 307 || status == 308)
    }

    /// Whether nothing has to stay behind with the origin.
    private func isWhole(_ proposed: SessionRequest, of request: SessionRequest) -> Bool {
        guard request.url.user == nil, !secrets.contains(where: { request.headerFields[$0] != nil }) else {
            return false
        }
        return request.headerFields.allSatisfy { field in
            Self.ofTheOrigin.contains(field.name.canonicalName)
                || proposed.headerFields[values: field.name].contains(field.value)
        }
    }

    /// Fields that are another origin's anyway.
    private static let ofTheOrigin = ["host", "origin", "referer"]
}
