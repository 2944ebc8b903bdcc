// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Which responses are acceptable, by status and by media type.
///
/// Only responses from HTTP are judged. A configuration value: copy it, store it, compare it.
public struct ResponseValidation: Sendable, Equatable, Codable {
    /// The acceptable status codes, 200 to 299 unless said; nil for all.
    public var statusCodes: StatusCodes?
    /// The acceptable media types, compared without regard to case and parameters; nil for all.
    ///
    /// A response without a type passes where its content is empty or ``MediaRange/any`` is in the set.
    public var contentTypes: Set<MediaRange>?
    /// Whether `application/problem+json` is as good as `application/json` or `text/json` (RFC 6839); false.
    public var acceptsStructuredSuffixes: Bool

    /// Rules.
    public init(
        statusCodes: StatusCodes? = .successful, contentTypes: Set<MediaRange>? = nil,
        acceptsStructuredSuffixes: Bool = false
    ) {
        self.statusCodes = statusCodes
        self.contentTypes = contentTypes
        self.acceptsStructuredSuffixes = acceptsStructuredSuffixes
    }

    /// What is said about a response.
    public enum Verdict: Sendable {
        /// It is what was asked for.
        case acceptable
        /// It is not; without an error where the type is wrong and there is no content that could be misread.
        case unacceptable(SessionError?)
    }

    /// Judges a response.
    ///
    /// A wrong type is ``SessionError/Code/cannotDecodeContentData``, a wrong status
    /// ``SessionError/Code/badServerResponse`` with the wrong type, if any, underneath. Errors carry the
    /// response and its content.
    public func judge(_ response: SessionResponse?, data: Data?) -> Verdict {
        guard let response, let status = response.statusCode else { return .acceptable }
        let isEmpty = data?.isEmpty ?? true
        let type = response.mimeType
        var isAcceptable = true
        var error: SessionError?
        if let contentTypes, !accepts(type, contentTypes), !(type == nil && isEmpty) {
            isAcceptable = false
            if !isEmpty { error = wrongType(type, contentTypes, response, data) }
        }
        if let statusCodes, !statusCodes.contains(status) {
            isAcceptable = false
            error = SessionError(
                .badServerResponse, "Request failed: \(reasonPhrase(forStatus: status)) (\(status))",
                advice: advice(forStatus: status, of: response), domain: .responseSerialization,
                failingURL: response.url,
                response: response, data: data, underlying: error)
        }
        return isAcceptable ? .acceptable : .unacceptable(error)
    }

    private func advice(forStatus status: Int, of response: SessionResponse) -> String {
        let isRedirect = [301, 302, 303, 307, 308].contains(status)
        guard isRedirect, response.value(forHeader: "location") == nil else {
            return SessionCore.advice(forStatus: status)
        }
        return "the server names no Location to go to: ask its operator"
    }

    private func accepts(_ type: String?, _ ranges: Set<MediaRange>) -> Bool {
        guard let type else { return ranges.contains(.any) }
        if ranges.contains(where: { $0.matches(type) }) { return true }
        guard acceptsStructuredSuffixes else { return false }
        return MediaRange.generalTypes(of: type).contains { ranges.contains(MediaRange($0)) }
    }

    private func wrongType(
        _ type: String?, _ ranges: Set<MediaRange>, _ response: SessionResponse, _ data: Data?
    ) -> SessionError {
        let received = type.map { $0.isPlainWord ? $0 : "\(TextQuote($0))" } ?? "none"
        let accepted = ranges.map(\.description).sorted().joined(separator: ", ")
        return SessionError(
            .cannotDecodeContentData, "Request failed: unacceptable content-type: \(received)",
            advice: "accepted are \(accepted.isEmpty ? "none" : accepted); "
                + "if the server is right, add its type to the serializer's acceptableContentTypes, and set that responseSerializer",
            domain: .responseSerialization, failingURL: response.url, response: response, data: data,
            acceptableContentTypes: ranges)
    }
}

extension String {
    /// Whether it can stand in a message as it is: short, and nothing but visible ASCII.
    fileprivate var isPlainWord: Bool { utf8.count <= 100 && utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
