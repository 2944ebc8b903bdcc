// SPDX-License-Identifier: Apache-2.0

import EventLoop
public import FoundationEssentials
import Glibc
public import SessionCore
import Synchronization

/// A private cache of responses in memory and in a folder, on a thread of its own (RFC 9111).
///
/// It never fails: damaged files, an unusable folder and a full disk mean that less is stored and found. One
/// response is kept for each URL; what was used longest ago goes first.
///
/// Files are readable for this user alone. Credentials are not in them, but what servers answered to
/// credentials is. Several processes may share a folder; each counts only what it has seen.
public final class DiskResponseCache: Sendable {
    private let thread: Reactor?
    private let store: Mutex<CacheStore>
    /// The most bytes of a response that is stored at all, on disk or in memory.
    package let largestContent: Int64
    /// Nanoseconds of a clock that does not jump.
    private let clock: @Sendable () -> Int64

    /// A cache; nothing is read or made before it is used.
    ///
    /// - Parameters:
    ///   - directory: the folder, which is made when needed; nil keeps everything in memory, and so does a
    ///     path with a NUL character, which no folder can have.
    ///   - diskCapacity: the most bytes of files; 150 MiB. A response above an eighth of it is not stored.
    ///   - memoryCapacity: the most bytes in memory; 20 MiB. A response above an eighth is only on disk.
    public convenience init(
        directory: String?, diskCapacity: Int64 = 150 << 20, memoryCapacity: Int64 = 20 << 20
    ) {
        self.init(directory: directory, diskCapacity: diskCapacity, memoryCapacity: memoryCapacity) {
            Glibc.write($0, $1.baseAddress, $1.count)
        }
    }

    /// A cache that writes by `write` instead of write(2), by a clock of its own.
    package init(
        directory: String?, diskCapacity: Int64, memoryCapacity: Int64,
        clock: @escaping @Sendable () -> Int64 = { Reactor.now },
        write: @escaping @Sendable (Int32, UnsafeRawBufferPointer) -> Int
    ) {
        self.clock = clock
        // Where no thread can be started, the caller's does the work.
        thread = try? Reactor(name: "reach-cache")
        let directory = directory.flatMap { FileFailure.fault(ofPath: $0) == nil ? $0 : nil }
        largestContent = max(directory == nil ? 0 : diskCapacity, memoryCapacity, 0) / 8
        store = Mutex(
            CacheStore(
                directory: directory, diskCapacity: diskCapacity, memoryCapacity: memoryCapacity, write: write
            ))
    }

    /// What is stored for the URL of a request, whether it may be used or not; nil where nothing is.
    public func lookup(_ request: SessionRequest) async -> StoredResponse? {
        await withCheckedContinuation { continuation in
            lookup(request) { continuation.resume(returning: $0) }
        }
    }

    /// What is stored for the URL of a request; `body` is called on the cache's thread.
    package func lookup(_ request: SessionRequest, then body: @escaping @Sendable (StoredResponse?) -> Void) {
        let key = CacheEntry.key(for: request)
        perform({ $0.lookup(key) }, then: body)
    }

    /// Stores a response in the place of an earlier one for its URL; returns at once.
    package func store(_ response: StoredResponse) { perform { [clock] in $0.store(response, at: clock()) } }

    /// Gives a stored response another head, after the server has confirmed it; returns at once.
    package func refresh(_ entry: CacheEntry) { perform { [clock] in $0.refresh(entry, at: clock()) } }

    /// Removes what is stored under some keys; returns at once.
    package func remove(keys: Set<String>) {
        guard !keys.isEmpty else { return }
        perform { store in
            for key in keys { store.remove(key) }
        }
    }

    /// Removes what is stored for a URL; not what came for a request with a `Host` of its own.
    public func remove(_ url: URL) async {
        let key = CacheEntry.key(for: url)
        await run { $0.remove(key) }
    }

    /// Removes what is stored for the URL of a request, and its `Host`.
    public func remove(_ request: SessionRequest) async {
        let key = CacheEntry.key(for: request)
        await run { $0.remove(key) }
    }

    /// Removes everything, in memory and in the folder.
    public func removeAll() async { await run { $0.removeAll() } }

    /// Releases what is in memory, for instance when memory is short; the folder keeps it.
    public func emptyMemory() async { await run { $0.emptyMemory() } }

    /// The bytes of the files.
    public var diskUsage: Int64 {
        get async {
            await run {
                $0.open()
                return $0.diskUsage
            }
        }
    }

    /// The bytes in memory.
    public var memoryUsage: Int64 {
        get async { await run { $0.memoryUsage } }
    }

    /// Returns when everything is on disk that was handed over before.
    public func flush() async { await run { _ in } }

    private func run<Value: Sendable>(
        _ work: @escaping @Sendable (inout CacheStore) -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            perform(work) { continuation.resume(returning: $0) }
        }
    }

    private func perform<Value: Sendable>(
        _ work: @escaping @Sendable (inout CacheStore) -> Value,
        then body: @escaping @Sendable (Value) -> Void = { (_: Value) in }
    ) {
        let job: @Sendable () -> Void = { body(self.store.withLock { work(&$0) }) }
        if let thread { thread.perform(job) } else { job() }
    }
}

/// What a response cache has for a URL.
public struct StoredResponse: Sendable, Equatable {
    /// The head, and for which requests it is.
    public let entry: CacheEntry
    /// The content.
    public let data: Data

    /// A stored response.
    package init(entry: CacheEntry, data: Data) {
        self.entry = entry
        self.data = data
    }
}
