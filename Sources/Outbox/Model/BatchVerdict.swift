// SPDX-License-Identifier: Apache-2.0

/// What follows an attempt to send a batch.
enum BatchVerdict: Sendable, Equatable {
    /// The same for each entry.
    case whole(DeliveryVerdict)
    /// For each entry its own, in their order.
    case each([DeliveryVerdict])
    /// Its first half is sent.
    ///
    /// - Parameter searches: whether one entry is at fault, and not the size.
    case halves(searches: Bool)

    /// - Parameters:
    ///   - verdict: by the status of the answer.
    ///   - items: what the answer says of each entry; nil if it does not.
    ///   - count: the entries of the batch.
    ///   - isRepeated: whether the server may have received them before.
    init(_ verdict: DeliveryVerdict, _ items: [BatchItem]?, count: Int, isRepeated: Bool) {
        switch verdict {
        case .delivered(let status):
            if let items, items.count == count {
                self = .each(
                    items.map { DeliveryVerdict(statusCode: $0.statusCode, isRepeated: isRepeated) })
            } else if status == 207 {
                // Taking it for a success could lose entries (RFC 4918 §13).
                let message =
                    "status 207 comes without a status for each of \(count) \(count == 1 ? "request" : "requests")"
                self = .whole(.retry(OutboxFailure(.server, message, statusCode: status)))
            } else {
                self = .whole(verdict)
            }
        case .dead(let failure) where count > 1 && failure.statusCode == 413: self = .halves(searches: false)
        case .dead(let failure) where count > 1 && (failure.statusCode == 400 || failure.statusCode == 422):
            self = .halves(searches: true)
        default: self = .whole(verdict)
        }
    }
}
