// SPDX-License-Identifier: Apache-2.0

/// Which entries are meant: those that meet each condition that is set.
public struct OutboxSelection: Sendable, Equatable {
    /// The state.
    public var state: OutboxEntry.State?
    /// The lane.
    public var lane: String?
    /// A tag that it has.
    public var tag: String?
    /// The status of the last failure's answer, for example 404.
    public var statusCode: Int?

    /// A selection; without conditions it means all entries.
    public init(
        state: OutboxEntry.State? = nil, lane: String? = nil, tag: String? = nil, statusCode: Int? = nil
    ) {
        (self.state, self.lane, self.tag, self.statusCode) = (state, lane, tag, statusCode)
    }
}

/// The rules for the names that callers give: of entries, tags and gates.
enum GivenName {
    /// - Parameter what: names it in the error, for example "a tag".
    static func check(_ name: String, _ what: String, upTo length: Int = 200) throws(OutboxError) {
        guard !name.isEmpty, name.utf8.count <= length,
            !name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else {
            throw OutboxError(
                .badRequest, "\(what) has a name of 1 to \(length) bytes without control characters",
                advice: "choose another one")
        }
    }
}
