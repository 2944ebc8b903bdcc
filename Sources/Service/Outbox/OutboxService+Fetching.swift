// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Outbox
import ServiceCore

/// Tells hooks of files that were fetched, on the loop's thread.
extension OutboxService {
    /// Called before the entry leaves; `done` with whether the programs were told.
    func fetched(_ file: FetchedFile, _ done: @escaping (Bool) -> Void) {
        guard context != nil else { return done(false) }
        context?.log(.notice, "outbox: \(file.path) was fetched, \(file.bytes) bytes (request \(file.id))")
        guard let hooks else { return done(true) }
        let event = FetchedEvent(
            .fetched, request: "\(file.id)", path: file.path, url: file.url, sha256: file.sha256 ?? "",
            bytes: file.bytes)
        hooks.run(event, done)
    }

    /// An entry became a dead letter: if it was to fetch a file, hooks are told.
    func givenUp(_ id: OutboxID, _ failure: OutboxFailure) {
        guard hooks != nil, let context, case .open(let outbox) = phase else { return }
        let here = LoopBound(self, to: context.reactor)
        Task(executorPreference: executor) {
            guard let entry = try? await outbox.entry(id), let path = entry.file else { return }
            let event = FetchedEvent(
                .dead, request: "\(id)", path: path, url: entry.shownURL, sha256: entry.sha256 ?? "",
                reason: failure.message)
            here.perform { $0.hooks?.run(event) }
        }
    }
}
