// SPDX-License-Identifier: Apache-2.0

import SessionCore

// A task whose path has gone, or which may not use the path there is: nothing of it runs, and it is not over.
extension TaskRunner {
    /// Ends the exchange under way without a result; handle and place among the transfers of the host are given back, and no limit of
    /// time runs.
    func park() {
        guard !isParked, !isOver else { return }
        isParked = true
        if let transfer { engine.cancel(transfer) }
        transfer = nil
    }

    /// Goes on after ``park()``.
    func goOn(over binding: PathBinding) {
        guard isParked, !isOver else { return }
        isParked = false
        exchange()
    }
}
