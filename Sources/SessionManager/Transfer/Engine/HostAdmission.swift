// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// A transfer's slot among those of its origin; written in this file alone.
struct HostSlot {
    /// Whether it is counted among the running transfers of its origin.
    fileprivate(set) var isHeld = false
    /// Whether others of its origin wait for its connection, which they share where it speaks HTTP/2.
    fileprivate(set) var opensConnection = false
    /// Removes it from the queue of its origin, while it waits there.
    fileprivate(set) var ticket: Int?
}

/// The slots of transfers among those of their origin, which suspended transfers do not take; on the loop's
/// thread.
package final class HostAdmission {
    private var limiter: PerHostLimiter<Transfer>
    /// The last URL and its origin: mostly the next transfer has the same.
    private var last = (url: "", origin: "", isSecure: false)
    private let hasHTTP2: Bool

    /// - Parameters:
    ///   - limit: how many connections an origin may have.
    ///   - hasHTTP2: whether connections over TLS may agree on HTTP/2, which
    ///     ``connected(_:isMultiplexed:isNew:)`` tells.
    package init(limit: Int, hasHTTP2: Bool = false) {
        limiter = PerHostLimiter(limit: limit)
        self.hasHTTP2 = hasHTTP2
    }

    /// The origin of a URL that is written as text, and whether it is spoken to by TLS.
    package func origin(of address: String) -> (origin: String, isSecure: Bool) {
        if address != last.url {
            let origin = address.origin
            last = (address, origin, origin.hasPrefix("https:"))
        }
        return (last.origin, last.isSecure)
    }

    /// Gives a slot to a transfer; false where there is none, and the transfer waits for one.
    package func admit(_ transfer: Transfer) -> Bool {
        let admission = limiter.enter(
            transfer.origin, isAlone: transfer.isAlone, mayMultiplex: hasHTTP2 && transfer.isSecure,
            priority: transfer.priority, transfer)
        switch admission {
        case .admitted, .opens:
            transfer.slot.isHeld = true
            transfer.slot.opensConnection = admission == .opens
            return true
        case .queued(let ticket):
            transfer.slot.ticket = ticket
            transfer.delegate?.transfer(transfer, waitsForSlot: true)
            return false
        }
    }

    /// Ends the waiting of a transfer.
    package func leaveQueue(_ transfer: Transfer) {
        guard let ticket = transfer.slot.ticket else { return }
        endWaiting(transfer)
        _ = limiter.abandon(transfer.origin, isAlone: transfer.isAlone, ticket: ticket)
    }

    /// Gives a slot back.
    ///
    /// - Returns: the transfers that have a slot now.
    package func release(_ transfer: Transfer) -> [Transfer] {
        limiter.forgetIdleHosts()
        guard transfer.slot.isHeld else { return [] }
        let opens = transfer.slot.opensConnection
        transfer.slot.isHeld = false
        transfer.slot.opensConnection = false
        return admitted(
            limiter.release(
                transfer.origin, isAlone: transfer.isAlone, version: transfer.heads.version, opens: opens))
    }

    /// Whether the version of an answer that has begun shows that more transfers may run.
    package func learns(from transfer: Transfer) -> Bool {
        limiter.learns(transfer.origin, transfer.heads.version)
    }

    /// Lifts the limit of a transfer's origin; returns the transfers that have a slot now.
    package func multiplexes(_ transfer: Transfer) -> [Transfer] {
        admitted(limiter.multiplexes(transfer.origin))
    }

    /// A transfer has a connection for which others wait; returns those that have a slot now.
    func connected(_ transfer: Transfer, isMultiplexed: Bool, isNew: Bool) -> [Transfer] {
        guard transfer.slot.opensConnection else { return [] }
        transfer.slot.opensConnection = false
        return admitted(limiter.connected(transfer.origin, isMultiplexed: isMultiplexed, isNew: isNew))
    }

    /// Whether a transfer is alone on its connection on an origin that may speak HTTP/2.
    func needsExclusivePool(_ transfer: Transfer) -> Bool {
        transfer.isAlone && !limiter.isKnownNotToMultiplex(transfer.origin)
    }

    private func admitted(_ next: [PerHostLimiter<Transfer>.Admitted]) -> [Transfer] {
        next.map { admitted in
            let transfer = admitted.item
            endWaiting(transfer)
            transfer.slot.isHeld = true
            transfer.slot.opensConnection = admitted.opens
            return transfer
        }
    }

    private func endWaiting(_ transfer: Transfer) {
        guard transfer.slot.ticket.take() != nil else { return }
        transfer.delegate?.transfer(transfer, waitsForSlot: false)
    }
}

extension URL {
    /// Scheme and authority as they are written, in lower case: what connections are kept for.
    ///
    /// Much cheaper than the parsed parts; `http://h` and `http://h:80` count as two.
    var originText: String { absoluteString.origin }
}

extension String {
    /// Whether a URL may be one of a socket (`http+unix`, `https+unix`); quickly seen.
    var mayNameSocket: Bool {
        var text = self
        return text.withUTF8 { bytes in
            bytes.count > 5 && (bytes[4] == UInt8(ascii: "+") || bytes[5] == UInt8(ascii: "+"))
        }
    }
}

extension String {
    /// The beginning of a URL up to its path.
    var origin: String {
        var text = self
        return text.withUTF8 { bytes in
            var slashes = 0
            var end = 0
            var hasUpperCase = false
            while end < bytes.count {
                switch bytes[end] {
                case UInt8(ascii: "/"): slashes += 1
                case UInt8(ascii: "?"), UInt8(ascii: "#"): slashes = 3
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): hasUpperCase = true
                default: break
                }
                if slashes == 3 { break }
                end += 1
            }
            let origin = String(decoding: UnsafeBufferPointer(rebasing: bytes[..<end]), as: UTF8.self)
            // The case of a socket's path counts.
            return hasUpperCase && !mayNameSocket ? origin.lowercased() : origin
        }
    }
}
