// SPDX-License-Identifier: Apache-2.0

public import SessionManager

/// How a lane joins its waiting requests into one.
///
/// Joined are requests that follow each other in the lane and have the same method, URL, header fields,
/// secrets, network condition, time limit, window and gates. The others, those without content, and those
/// with a `Content-Encoding` of their own are sent one by one, in their turn.
///
/// A batch is sent when it is full, when nothing more can join it, or when its oldest request has waited for
/// ``maximumAge``. Its `Idempotency-Key` follows from the keys of its requests, and it is sent again with the
/// same ones; without those that have expired, or were removed or replaced meanwhile, it is another batch
/// with another key.
public struct BatchRule: Sendable, Equatable {
    /// The most requests in a batch; 500.
    public var maximumCount = 500
    /// The most bytes of content in a batch, before they are compressed; 256 KiB.
    ///
    /// A larger request is sent as a batch of one.
    public var maximumBytes: Int64 = 256 << 10
    /// How long the oldest request waits for others; 10 s.
    public var maximumAge: Duration = .seconds(10)
    /// How contents become one content.
    public var form = BatchForm.jsonArray
    /// How the batch is compressed; nil, the default, for not at all.
    ///
    /// Servers cannot be asked whether they understand it.
    public var compression: ContentCompression?
    /// The batch's `Content-Type`; nil for that of its requests, and `application/x-ndjson` for lines.
    public var contentType: String?

    /// The defaults, with a form.
    public init(_ form: BatchForm = .jsonArray) { self.form = form }

    /// At least one.
    var count: Int { max(maximumCount, 1) }
    /// In milliseconds.
    var age: Int64 { max(maximumAge, .zero).milliseconds }
}
