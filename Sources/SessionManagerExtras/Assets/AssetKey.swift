// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

/// What an asset is found by: its URL, and a word where several are made of one content.
public struct AssetKey: Sendable, Hashable {
    /// The absolute URL.
    public let url: String
    /// What was made of the content, for instance the name of a filter; nil for the content itself.
    public let identifier: String?

    /// The key of a URL.
    public init(_ url: URL, identifier: String? = nil) {
        self.url = url.absoluteString
        self.identifier = identifier
    }

    /// The key of what a request asks for.
    public init(_ request: SessionRequest, identifier: String? = nil) {
        self.init(request.url, identifier: identifier)
    }
}
