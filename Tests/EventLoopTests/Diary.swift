// SPDX-License-Identifier: Apache-2.0

import EventLoop

/// An actor that lives on a reactor.
actor Diary {
    let reactor: Reactor
    private(set) var entries: [String] = []

    init(reactor: Reactor) { self.reactor = reactor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    func record(_ entry: String) {
        precondition(reactor.isCurrent)
        entries.append(entry)
    }
}
