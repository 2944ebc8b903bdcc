// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

/// What a response cache has for a URL.
public struct StoredResponse: Sendable, Equatable {
    /// The head, and for which requests it is.
    public let entry: CacheEntry
    /// The content.
    public let data: Data

    /// A stored response.
    package init(entry: CacheEntry, data: Data) {
        self.entry = entry
        self.data = data
    }
}
