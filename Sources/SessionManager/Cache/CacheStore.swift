// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SessionCore

/// Responses in memory and in a folder, each within its capacity; used by one thread at a time.
///
/// Nothing that happens to the folder is an error: what cannot be read is a miss, or written, not stored.
struct CacheStore: ~Copyable {
    /// How long nothing is written after the disk was full or refused.
    static let rest: Int64 = 60_000_000_000

    private let directory: CacheDirectory?
    private let write: CacheFile.Write
    private var disk: CacheIndex
    private var memory: CacheIndex
    private var inMemory: [String: StoredResponse] = [:]
    private var isOpen = false
    private var writesAgain: Int64 = .min

    init(directory: String?, diskCapacity: Int64, memoryCapacity: Int64, write: @escaping CacheFile.Write) {
        self.directory = directory.map { CacheDirectory(path: $0) }
        self.write = write
        disk = CacheIndex(capacity: directory == nil ? 0 : diskCapacity)
        memory = CacheIndex(capacity: memoryCapacity)
    }

    var diskUsage: Int64 { disk.usage }
    var memoryUsage: Int64 { memory.usage }

    /// Finds what an earlier process left; once.
    mutating func open() {
        guard !isOpen, let directory else { return }
        isOpen = true
        directory.create()
        for (name, size) in directory.scan() { forget(disk.stored(name, size: size)) }
    }

    /// What there is for a key.
    mutating func lookup(_ key: String) -> StoredResponse? {
        open()
        let name = CacheDirectory.name(key)
        if let stored = inMemory[name], stored.entry.key == key {
            memory.used(name)
            disk.used(name)
            return stored
        }
        guard let directory, disk.capacity > 0 else { return nil }
        guard let (stored, size) = CacheFile(path: directory.file(name), write: write).read() else {
            disk.removed(name)
            return nil
        }
        forget(disk.stored(name, size: size))
        guard stored.entry.key == key else { return nil }
        storeInMemory(stored, name)
        return stored
    }

    /// Stores a response in place of an earlier one for its key; `now` counts nanoseconds and does not jump.
    mutating func store(_ stored: StoredResponse, at now: Int64) {
        open()
        let name = CacheDirectory.name(stored.entry.key)
        discard(name)
        storeInMemory(stored, name)
        guard let directory, disk.accepts(size: Int64(stored.data.count)), now >= writesAgain else { return }
        let file = CacheFile(path: directory.file(name), write: write)
        var result = file.replace(stored, temporary: directory.temporary(name))
        if case .failure(let failure) = result, failure.errno == ENOENT {
            // The folder was removed as well.
            directory.create()
            result = file.replace(stored, temporary: directory.temporary(name))
        }
        switch result {
        case .success(let size): forget(disk.stored(name, size: size))
        case .failure: writesAgain = now + Self.rest
        }
    }

    /// Gives a stored response another head, where it is still there.
    mutating func refresh(_ entry: CacheEntry, at now: Int64) {
        guard let stored = lookup(entry.key), stored.entry.contentLength == entry.contentLength else {
            return
        }
        store(StoredResponse(entry: entry, data: stored.data), at: now)
    }

    mutating func remove(_ key: String) {
        open()
        discard(CacheDirectory.name(key))
    }

    mutating func removeAll() {
        open()
        forget(disk.keys)
        disk.removedAll()
        emptyMemory()
        writesAgain = .min
    }

    /// Releases what is in memory; the folder keeps it.
    mutating func emptyMemory() {
        memory.removedAll()
        inMemory = [:]
    }

    private mutating func storeInMemory(_ stored: StoredResponse, _ name: String) {
        // The head has about 512 bytes beside its block.
        let size = Int64(stored.data.count + stored.entry.response.headerBlock.count + 512)
        guard memory.accepts(size: size) else { return }
        inMemory[name] = stored
        for gone in memory.stored(name, size: size) { inMemory[gone] = nil }
    }

    private mutating func discard(_ name: String) {
        disk.removed(name)
        forget([name])
    }

    /// Removes the files of the entries that the index has removed.
    private mutating func forget(_ names: [String]) {
        for name in names {
            memory.removed(name)
            inMemory[name] = nil
            if let directory { CacheFile(path: directory.file(name), write: write).remove() }
        }
    }
}
