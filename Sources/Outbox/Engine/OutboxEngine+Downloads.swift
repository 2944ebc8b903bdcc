// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionManager
import Storage

// Fetching files.
extension OutboxEngine {
    /// The attempt of an entry that fetches a file.
    func fetching(_ delivery: Delivery, _ download: StoredDownload) -> DownloadDelivery {
        let bound = LoopBound(self, to: reactor)
        let id = delivery.pending.id
        return DownloadDelivery(delivery: delivery, download: download, limits: limits) { progress in
            await withCheckedContinuation { continuation in
                bound.perform { engine in
                    engine.record(progress, of: id)
                    continuation.resume()
                }
            }
        }
    }

    /// Notes that a file is in its place; without that the next attempt finds out by the checksum, or fetches
    /// it again.
    private func record(_ progress: DownloadProgress, of id: OutboxID) {
        guard !isClosed else { return }
        do throws(OutboxError) {
            try file.write { (database) throws(StorageError) in
                _ = try OutboxTables(database).record(progress, of: id)
            }
        } catch { report(error, .settling) }
    }

    /// Removes what was fetched of entries that have left.
    ///
    /// What is being written right now is removed after its attempt.
    func sweep(_ leftovers: [OutboxTables.Leftover]) throws(OutboxError) {
        guard !leftovers.isEmpty else { return }
        let busy = Set(inFlight.values.compactMap(\.part))
        let folders = limits.downloadFolders
        let removed = leftovers.filter {
            !busy.contains($0.part) && Self.removes($0.part, beside: $0.path, $0.owner, folders)
        }.map(\.part)
        guard !removed.isEmpty else { return }
        try file.write { (database) throws(StorageError) in
            for part in removed { try OutboxTables(database).forget(leftover: part) }
        }
    }

    /// Removes a file and its record; false where the folder cannot be opened now.
    private static func removes(
        _ part: String, beside path: String, _ owner: FileOwner?, _ folders: [String]
    ) -> Bool {
        guard let path = try? DownloadPath(path, below: folders) else { return true }
        do throws(TargetFolder.Fault) {
            try TargetFolder(path, owner: owner).remove(part)
            return true
        } catch {
            if case .system = error { return false } else { return true }
        }
    }
}
