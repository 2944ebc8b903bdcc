// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import HTTPTypes

/// The head of a response: everything but its content.
///
/// The header block is kept as it came and parsed on demand, since most of it is never looked at.
public struct SessionResponse: Sendable, Equatable {
    private final class Contents: Sendable {
        let url: URL
        let statusCode: Int?
        let version: HTTPVersion?
        let requestMethod: HTTPRequest.Method?
        let headerBlock: [UInt8]

        init(
            url: URL, statusCode: Int?, version: HTTPVersion?, requestMethod: HTTPRequest.Method?,
            headerBlock: [UInt8]
        ) {
            self.url = url
            self.statusCode = statusCode
            self.version = version
            self.requestMethod = requestMethod
            self.headerBlock = headerBlock
        }
    }

    /// Handed from hand to hand, and never changed.
    private let contents: Contents

    /// Where the response came from: the last URL after redirects.
    public var url: URL { contents.url }
    /// The status code, 100 to 999; nil where the response is not from HTTP.
    public var statusCode: Int? { contents.statusCode }
    /// The version that was spoken.
    public var version: HTTPVersion? { contents.version }
    /// The method of the request that was answered; nil where it is unknown.
    ///
    /// A response to HEAD has no content.
    public var requestMethod: HTTPRequest.Method? { contents.requestMethod }
    /// The header fields as they came, one `Name: value` a line, lines ended by CR LF or LF.
    package var headerBlock: [UInt8] { contents.headerBlock }

    /// A response with the header block of a server (without the status line).
    package init(
        url: URL, statusCode: Int?, version: HTTPVersion?, headerBlock: [UInt8],
        requestMethod: HTTPRequest.Method? = nil
    ) {
        contents = Contents(
            url: url, statusCode: statusCode, version: version, requestMethod: requestMethod,
            headerBlock: headerBlock)
    }

    /// A response, for tests, caches and own transports.
    public init(
        url: URL, statusCode: Int?, version: HTTPVersion? = .http1_1, headerFields: HTTPFields = HTTPFields(),
        requestMethod: HTTPRequest.Method? = nil
    ) {
        var block: [UInt8] = []
        for field in headerFields {
            block.append(contentsOf: field.name.rawName.utf8)
            block.append(contentsOf: ": ".utf8)
            field.withUnsafeBytesOfValue { block.append(contentsOf: $0) }
            block.append(contentsOf: "\r\n".utf8)
        }
        self.init(
            url: url, statusCode: statusCode, version: version, headerBlock: block,
            requestMethod: requestMethod)
    }

    /// A copy in memory of its own.
    package var copied: SessionResponse {
        SessionResponse(
            url: url, statusCode: statusCode, version: version,
            headerBlock: headerBlock.withUnsafeBytes { [UInt8]($0) }, requestMethod: requestMethod)
    }

    /// Whether everything in them is the same.
    public static func == (one: SessionResponse, other: SessionResponse) -> Bool {
        let (one, other) = (one.contents, other.contents)
        return one === other
            || one.url == other.url && one.statusCode == other.statusCode && one.version == other.version
                && one.requestMethod == other.requestMethod && one.headerBlock == other.headerBlock
    }
}
