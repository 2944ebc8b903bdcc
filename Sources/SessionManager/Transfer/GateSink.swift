// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// Holds the content back until it is decided where it goes; on the loop's thread.
final class GateSink: ContentSink {
    private var target: (any ContentSink)?
    private var length: Int64?

    /// Whether the decision has been made.
    var isOpen: Bool { target != nil }

    func begin(length: Int64?) { self.length = length }

    func take(_ bytes: UnsafeRawBufferPointer) throws(SessionError) -> SinkAnswer {
        guard let target else { return .full }
        return try target.take(bytes)
    }

    /// Lets the content through.
    func open(_ target: any ContentSink) throws(SessionError) {
        try target.begin(length: length)
        self.target = target
    }
}
