// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Outbox
import ServiceCore
import Storage

/// The folders into which the outbox of a state directory fetches files.
package enum FetchFolders {
    /// The folder in the state directory that is used where none is configured.
    package static let name = "fetched"

    /// The configured folders, or the one in the state directory.
    package static func paths(_ configured: [String], in directory: String) -> [String] {
        guard configured.isEmpty else { return configured }
        let isAbsolute = directory.hasPrefix("/")
        return [(isAbsolute ? "" : FileManager.default.currentDirectoryPath + "/") + directory + "/" + name]
    }

    /// Makes the folder in the state directory if it is used and missing, with the rights of that
    /// directory's owner; where it cannot be made, the refusal of a download says so.
    package static func prepare(_ configured: [String], in directory: String) {
        guard configured.isEmpty else { return }
        let folder = directory + "/" + name
        let make = {
            _ = PrivateFile.makeFolder(directory)
            _ = PrivateFile.makeFolder(folder)
        }
        guard let rights = FolderRights.needed(in: directory) else { return make() }
        try? rights.perform(make)
    }
}

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
