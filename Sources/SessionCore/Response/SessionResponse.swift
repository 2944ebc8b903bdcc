// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import HTTPTypes

/// The head of a response: everything but its content.
///
/// The header block is kept as it came and read when somebody asks, since most of it is never looked at.
public struct SessionResponse: Sendable, Equatable {
    /// Where the response came from: the last URL after redirects.
    public let url: URL
    /// The status code, 100 to 999; nil where the response is not from HTTP.
    public let statusCode: Int?
    /// The version that was spoken.
    public let version: HTTPVersion?
    /// The method of the request that was answered; nil where nobody said.
    ///
    /// A response to HEAD has no content.
    public let requestMethod: HTTPRequest.Method?
    /// The header fields as they came, one `Name: value` a line, lines ended by CR LF or LF.
    package let headerBlock: [UInt8]

    /// A response with the header block of a server (without the status line).
    package init(
        url: URL, statusCode: Int?, version: HTTPVersion?, headerBlock: [UInt8],
        requestMethod: HTTPRequest.Method? = nil
    ) {
        self.url = url
        self.statusCode = statusCode
        self.version = version
        self.requestMethod = requestMethod
        self.headerBlock = headerBlock
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
}
