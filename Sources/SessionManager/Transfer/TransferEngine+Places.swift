// SPDX-License-Identifier: Apache-2.0

import CCurl
import SessionCore

// Places among the transfers of an origin, which suspended transfers do not take.
extension TransferEngine {
    /// Takes a place; false where there is none, and the transfer waits in line.
    func takePlace(_ transfer: Transfer) -> Bool {
        let (origin, isAlone) = (transfer.origin, transfer.isAlone)
        switch slots.enter(origin, isAlone: isAlone, priority: transfer.priority, transfer) {
        case .admitted:
            transfer.hasPlace = true
            return true
        case .queued(let ticket):
            transfer.ticket = ticket
            waiting += 1
            transfer.observer?.transfer(transfer, waitsForPlace: true)
            return false
        }
    }

    /// Gives its place to those who wait.
    func givePlaceBack(_ transfer: Transfer) {
        guard transfer.hasPlace else { return }
        transfer.hasPlace = false
        call(slots.leave(transfer.origin, isAlone: transfer.isAlone, version: transfer.version))
    }

    /// An answer has begun: where it tells that the origin multiplexes, more may run at once, before it has ended.
    func noteVersion(of transfer: Transfer) {
        let origin = transfer.origin
        guard slots.learns(origin, transfer.version) else { return }
        outside { engine in engine.call(engine.slots.multiplexes(origin)) }
    }

    private func call(_ transfers: [Transfer]) {
        for next in transfers {
            noteCall(next)
            next.hasPlace = true
            if next.easy == nil { begin(next) } else { unpause(next) }
        }
    }

    /// It stands in line no longer.
    private func noteCall(_ transfer: Transfer) {
        guard transfer.ticket.take() != nil else { return }
        waiting -= 1
        transfer.observer?.transfer(transfer, waitsForPlace: false)
    }

    func leaveLine(_ transfer: Transfer) {
        guard let ticket = transfer.ticket else { return }
        noteCall(transfer)
        _ = slots.abandon(transfer.origin, isAlone: transfer.isAlone, ticket: ticket)
    }

    /// Stops the bytes of a transfer, or lets them go on as soon as there is a place for it.
    ///
    /// Its connection is kept.
    func setSuspended(_ transfer: Transfer, _ isSuspended: Bool) {
        guard transfer.isSuspended != isSuspended else { return }
        transfer.isSuspended = isSuspended
        outside { engine in
            // It may have ended, or been told otherwise, until libcurl was left.
            guard transfer.observer != nil, transfer.isSuspended == isSuspended else { return }
            if isSuspended { engine.pause(transfer) } else { engine.goOn(transfer) }
        }
    }

    private func pause(_ transfer: Transfer) {
        leaveLine(transfer)
        transfer.stopAwaiting()
        if let easy = transfer.easy {
            inside { _ = ccurl_easy_pause(easy.raw, Int32(CCURL_PAUSE_ALL)) }
        }
        givePlaceBack(transfer)
    }

    private func goOn(_ transfer: Transfer) {
        guard !transfer.hasPlace, transfer.ticket == nil, takePlace(transfer) else { return }
        if transfer.easy == nil { begin(transfer) } else { unpause(transfer) }
    }

    private func unpause(_ transfer: Transfer) {
        guard let easy = transfer.easy else { return }
        watchOver(transfer)
        transfer.awaitAnswerAgain()
        unpause(transfer, easy)
    }

    /// Has libcurl go on, which hands over at once what it has kept: trailers too, and what it finds wrong there it says nowhere else.
    func unpause(_ transfer: Transfer, _ easy: EasyHandle) {
        var code = CURLE_OK
        inside { code = ccurl_easy_pause(easy.raw, Int32(CCURL_PAUSE_NONE)) }
        guard code != CURLE_OK, transfer.easy === easy, let pool = transfer.pool else { return }
        let error = transfer.failure ?? transfer.judged(easy.error(code, transfer, tls))
        // One that has ended is refused as well (CURLE_BAD_FUNCTION_ARGUMENT, lib/easy.c): its own end comes first.
        pool.isDirty = true
        isDirty = true
        later { engine in
            if transfer.easy === easy { engine.fail(transfer, error) }
        }
    }
}
