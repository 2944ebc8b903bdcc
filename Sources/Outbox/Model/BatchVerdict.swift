// SPDX-License-Identifier: Apache-2.0

/// What follows an attempt to send a batch.
enum BatchVerdict: Sendable, Equatable {
    /// The same for each entry.
    case whole(DeliveryVerdict)
    /// For each entry its own, in their order.
    case each([DeliveryVerdict])
    /// Its first half is sent.
    ///
    /// - Parameters:
    ///   - searches: whether one entry is at fault, and not the size.
    ///   - later: why the half waits, as after a failure; nil if it is sent at once.
    case halves(searches: Bool, later: OutboxFailure?)

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
        case .dead(let failure):
            self = Self.halving(failure, count, isLater: false) ?? .whole(verdict)
        // With `Retry-After`, or an answer that broke off: the same batch could be refused for ever.
        case .retry(let failure):
            self = Self.halving(failure, count, isLater: true) ?? .whole(verdict)
        case .untried: self = .whole(verdict)
        }
    }

    /// Nil where the status says nothing of the batch's size or of one entry, or where it has one entry.
    private static func halving(_ failure: OutboxFailure, _ count: Int, isLater: Bool) -> BatchVerdict? {
        guard count > 1 else { return nil }
        switch failure.statusCode {
        case 413: return .halves(searches: false, later: isLater ? failure : nil)
        case 400, 422: return .halves(searches: true, later: isLater ? failure : nil)
        default: return nil
        }
    }
}
