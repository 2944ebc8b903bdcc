// SPDX-License-Identifier: Apache-2.0

/// Options that never change, held by all requests that have them: a request that is copied copies a reference.
package final class SharedRequestOptions: Sendable {
    package let value: RequestOptions

    init(_ value: RequestOptions) { self.value = value }

    /// Those of a request that is told nothing.
    static let defaults = SharedRequestOptions(RequestOptions())

    /// Whether the options are the same; mostly it is the same object.
    package func equals(_ other: SharedRequestOptions) -> Bool { self === other || value == other.value }
}
