// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

/// A folder for a cache, which makes it, and goes with the test.
private final class CacheFolder: Sendable {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    var path: String { folder.path }
    var cache: String { folder("above/cache") }

    /// The names in the cache's folder.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: cache)) ?? []).sorted() }

    func file(_ name: String) -> String { "\(cache)/\(name)" }
    func removeCache() throws { try FileManager.default.removeItem(atPath: cache) }
}

/// Writes, until it is full.
private final class FakeDisk: Sendable {
    let isFull = Atomic(false)
    let writes = Atomic(0)
    private let failure: Int32

    init(_ failure: Int32) { self.failure = failure }

    func write(_ number: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        writes.add(1, ordering: .relaxed)
        // Half of it at a time, as a disk may do.
        guard isFull.load(ordering: .relaxed) else {
            return Glibc.write(number, bytes.baseAddress, (bytes.count + 1) / 2)
        }
        errno = failure
        return -1
    }
}

extension SessionResponse {
    fileprivate func with(age: Int) -> SessionResponse {
        var fields = headerFields
        fields[.age] = "\(age)"
        return SessionResponse(url: url, statusCode: statusCode, version: version, headerFields: fields)
    }
}

struct DiskResponseCacheTests {
    private let start = Date(timeIntervalSince1970: 784_111_777)

    private func request(_ name: String) throws -> SessionRequest { try SessionRequest("http://h/\(name)") }

    private func stored(
        _ name: String, _ text: String = "hello", eTag: String = "\"1\"", of asked: SessionRequest? = nil
    ) throws -> StoredResponse {
        let request = try asked ?? request(name)
        let response = SessionResponse(
            url: request.url, statusCode: 200, headerFields: [.eTag: eTag, .cacheControl: "max-age=60"])
        return StoredResponse(
            entry: CacheEntry(
                request: request, response: response, requestDate: start, responseDate: start,
                contentLength: Int64(text.utf8.count)), data: Data(text.utf8))
    }

    /// Without memory every look-up goes to disk.
    private func cache(_ folder: CacheFolder, disk: Int64 = 1 << 20, memory: Int64 = 0) -> DiskResponseCache {
        DiskResponseCache(directory: folder.cache, diskCapacity: disk, memoryCapacity: memory)
    }

    @Test("what was stored is found, in memory, on disk and by the next process", arguments: [0, 1 << 20])
    func roundTrip(_ memory: Int64) async throws {
        let folder = try CacheFolder()
        let first = cache(folder, memory: memory)
        #expect(try await first.lookup(request("a")) == nil)
        first.store(try stored("a"))
        #expect(try await first.lookup(request("a")) == stored("a"))
        #expect(try await first.lookup(request("a#part")) == stored("a"))
        #expect(try await first.lookup(request("b")) == nil)
        await first.emptyMemory()
        #expect(try await first.lookup(request("a")) == stored("a"))
        first.store(try stored("a", "newer", eTag: "\"2\""))
        let second = cache(folder, memory: memory)
        await first.flush()
        #expect(try await second.lookup(request("a")) == stored("a", "newer", eTag: "\"2\""))
        #expect(await second.diskUsage == first.diskUsage)
        #expect(folder.names.count == 1)
        var status = stat()
        #expect(lstat(folder.file(folder.names[0]), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test("user and password of a URL are not in the file, and no task gets them with the response")
    func userInURL() async throws {
        let folder = try CacheFolder()
        let cache = cache(folder)
        let request = try SessionRequest("http://ann:s3cret@h/a?b#c")
        let response = SessionResponse(
            url: request.url, statusCode: 200, headerFields: [.eTag: "\"1\"", .cacheControl: "max-age=60"])
        let entry = CacheEntry(
            request: request, response: response, requestDate: start, responseDate: start, contentLength: 1)
        cache.store(StoredResponse(entry: entry, data: Data("x".utf8)))
        await cache.flush()
        let file = try Data(contentsOf: URL(filePath: folder.file(folder.names[0])))
        for secret in ["ann", "s3cret"] { #expect(file.firstRange(of: Data(secret.utf8)) == nil) }
        let other = try SessionRequest("http://ben@h/a?b")
        let found = try #require(await cache.lookup(other))
        #expect(found.entry.response.url.absoluteString == "http://h/a?b#c")
        // Who may have it gets it under the URL that was asked for, as from the network.
        #expect(found.entry.response(to: other, at: start).url == other.url)
        #expect(found.entry.response(to: request, at: start) == response.with(age: 0))
    }

    @Test("an empty content, and a new head for a content that stays")
    func refreshing() async throws {
        let folder = try CacheFolder()
        let cache = cache(folder)
        cache.store(try stored("empty", ""))
        #expect(try await cache.lookup(request("empty"))?.data == Data())
        cache.store(try stored("a"))
        cache.refresh(try stored("a", eTag: "\"2\"").entry)
        cache.refresh(try stored("nothing").entry)
        cache.refresh(try stored("empty", "longer").entry)
        #expect(try await cache.lookup(request("a")) == stored("a", eTag: "\"2\""))
        #expect(try await cache.lookup(request("nothing")) == nil)
        #expect(try await cache.lookup(request("empty"))?.entry.contentLength == 0)
    }

    @Test("what was used longest ago goes first, also over a restart")
    func eviction() async throws {
        let folder = try CacheFolder()
        let text = String(repeating: "x", count: 1000)
        let first = cache(folder, disk: 11_000)
        for name in ["a", "b", "c"] {
            first.store(try stored(name, text))
            await first.flush()
        }
        #expect(try await first.lookup(request("a")) != nil)
        let second = cache(folder, disk: 11_000)
        for number in 0..<7 { second.store(try stored("\(number)", text)) }
        #expect(await second.diskUsage <= 11_000)
        #expect(try await second.lookup(request("b")) == nil)
        #expect(try await second.lookup(request("a")) != nil)
        #expect(try await second.lookup(request("6")) != nil)
        let smaller = cache(folder, disk: 3000)
        #expect(await smaller.diskUsage <= 3000)
        #expect(folder.names.count == 2)
    }

    @Test("a response that is too large for disk and memory is not stored, and what was there has gone")
    func tooLarge() async throws {
        let folder = try CacheFolder()
        let cache = cache(folder, disk: 8000, memory: 8000)
        cache.store(try stored("a"))
        cache.store(try stored("a", String(repeating: "x", count: 1001)))
        #expect(try await cache.lookup(request("a")) == nil)
        #expect(await cache.memoryUsage == 0)
        #expect(folder.names.isEmpty)
    }

    @Test("removing: one, some, everything")
    func removing() async throws {
        let folder = try CacheFolder()
        let cache = cache(folder, memory: 1 << 20)
        for name in ["a", "b", "c"] { cache.store(try stored(name)) }
        await cache.remove(try request("a").url)
        cache.remove(keys: [CacheEntry.key(for: try request("b").url)])
        #expect(try await cache.lookup(request("a")) == nil)
        #expect(try await cache.lookup(request("b")) == nil)
        #expect(try await cache.lookup(request("c")) != nil)
        await cache.removeAll()
        #expect(try await cache.lookup(request("c")) == nil)
        #expect(await cache.diskUsage == 0)
        #expect(folder.names.isEmpty)
    }

    @Test("API-593 what came for another `Host` is stored beside, and removed by itself")
    func otherHost() async throws {
        let folder = try CacheFolder()
        let cache = cache(folder, memory: 1 << 20)
        var other = try request("a")
        try other.setValue("virtual.test", forHeader: "Host")
        cache.store(try stored("a"))
        #expect(await cache.lookup(other) == nil)
        await cache.remove(other)
        #expect(try await cache.lookup(request("a")) != nil)
        cache.store(try stored("a", of: other))
        await cache.remove(other.url)
        #expect(await cache.lookup(other) != nil)
        await cache.remove(other)
        #expect(await cache.lookup(other) == nil)
    }

    @Test("damaged files are misses and go away", arguments: 0..<6)
    func damage(_ kind: Int) async throws {
        let folder = try CacheFolder()
        let cache = cache(folder)
        cache.store(try stored("a"))
        await cache.flush()
        let path = folder.file(try #require(folder.names.first))
        var bytes = try Array(Data(contentsOf: URL(filePath: path)))
        switch kind {
        case 0: bytes = []
        case 1: bytes.removeLast()
        case 2: bytes[bytes.count - 1] ^= 1
        case 3: bytes.append(0)
        case 4: bytes = Array(repeating: 0, count: bytes.count)
        default: bytes[20] ^= 1
        }
        try Data(bytes).write(to: URL(filePath: path))
        #expect(try await cache.lookup(request("a")) == nil)
        #expect(folder.names.isEmpty)
        #expect(await cache.diskUsage == 0)
        cache.store(try stored("a"))
        #expect(try await cache.lookup(request("a")) == stored("a"))
    }

    @Test("what interrupted writers left is removed; what is none of ours stays")
    func leftovers() async throws {
        let folder = try CacheFolder()
        let first = cache(folder)
        first.store(try stored("a"))
        await first.flush()
        let ours = folder.names
        // Another download may lie there as well.
        let others = [
            "README", "link.response", "firmware.bin.part", ".part", "0123456789abcdef.response.part",
            "0123456789abcdef.response.x7.part", "0123456789abcdef.response..part",
            "0123456789abcdefg.response.77.part",
        ]
        for name in others + ["0123456789abcdef.response.77.part"] {
            try Data("x".utf8).write(to: URL(filePath: folder.file(name)))
        }
        #expect(try await cache(folder).lookup(request("a")) != nil)
        #expect(folder.names.sorted() == (ours + others).sorted())
    }

    @Test("a file is not followed elsewhere")
    func link() async throws {
        let folder = try CacheFolder()
        let cache = cache(folder)
        cache.store(try stored("a"))
        await cache.flush()
        let path = folder.file(try #require(folder.names.first))
        #expect(rename(path, "\(folder.path)/outside") == 0)
        #expect(symlink("\(folder.path)/outside", path) == 0)
        #expect(try await cache.lookup(request("a")) == nil)
    }

    @Test("a file under the name of another URL is no answer to that")
    func wrongName() async throws {
        let folder = try CacheFolder()
        let cache = cache(folder)
        cache.store(try stored("a"))
        await cache.flush()
        let name = try #require(folder.names.first)
        cache.store(try stored("b"))
        await cache.flush()
        let other = try #require(folder.names.first { $0 != name })
        #expect(rename(folder.file(other), folder.file(name)) == 0)
        #expect(try await cache.lookup(request("a")) == nil)
    }

    @Test("a folder that cannot be made is a cache that finds nothing, or memory alone")
    func noFolder() async throws {
        let folder = try CacheFolder()
        try Data("x".utf8).write(to: URL(filePath: "\(folder.path)/above"))
        let blind = cache(folder)
        blind.store(try stored("a"))
        #expect(try await blind.lookup(request("a")) == nil)
        // The kernel would cut the last one at its NUL, and make another folder.
        for directory in [folder.cache, nil, "\(folder.path)/cut\0off"] {
            let memory = DiskResponseCache(directory: directory, memoryCapacity: 1 << 20)
            memory.store(try stored("a"))
            #expect(try await memory.lookup(request("a")) == stored("a"))
            #expect(await memory.diskUsage == 0)
        }
        #expect(access("\(folder.path)/cut", F_OK) != 0)
    }

    @Test("a folder that goes away meanwhile is made again")
    func vanishing() async throws {
        let folder = try CacheFolder()
        let cache = cache(folder)
        cache.store(try stored("a"))
        await cache.flush()
        try folder.removeCache()
        #expect(try await cache.lookup(request("a")) == nil)
        cache.store(try stored("b"))
        #expect(try await cache.lookup(request("b")) == stored("b"))
    }

    @Test(
        "a full disk: the old response has gone, nothing half is left, nothing more is written for a minute",
        arguments: [ENOSPC, EDQUOT, EIO, EROFS])
    func fullDisk(_ failure: Int32) async throws {
        let folder = try CacheFolder()
        let disk = FakeDisk(failure)
        let time = Atomic<Int64>(0)
        let cache = DiskResponseCache(
            directory: folder.cache, diskCapacity: 1 << 20, memoryCapacity: 0,
            clock: { time.load(ordering: .relaxed) }, write: { disk.write($0, $1) })
        cache.store(try stored("a"))
        cache.store(try stored("b"))
        await cache.flush()
        disk.isFull.store(true, ordering: .relaxed)
        cache.store(try stored("a", "newer"))
        #expect(try await cache.lookup(request("a")) == nil)
        #expect(try await cache.lookup(request("b")) == stored("b"))
        #expect(folder.names.count == 1)
        let before = disk.writes.load(ordering: .relaxed)
        disk.isFull.store(false, ordering: .relaxed)
        cache.store(try stored("c"))
        #expect(try await cache.lookup(request("c")) == nil)
        #expect(disk.writes.load(ordering: .relaxed) == before)
        await cache.removeAll()
        cache.store(try stored("c"))
        #expect(try await cache.lookup(request("c")) == stored("c"))
        disk.isFull.store(true, ordering: .relaxed)
        cache.store(try stored("d"))
        await cache.flush()
        disk.isFull.store(false, ordering: .relaxed)
        time.store(59_000_000_000, ordering: .relaxed)
        cache.store(try stored("d"))
        #expect(try await cache.lookup(request("d")) == nil)
        time.store(60_000_000_000, ordering: .relaxed)
        cache.store(try stored("d"))
        #expect(try await cache.lookup(request("d")) == stored("d"))
    }

    @Test("many tasks at once")
    func concurrent() async throws {
        let folder = try CacheFolder()
        let cache = cache(folder, disk: 100_000, memory: 20_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let name = "\(number % 20)"
                    cache.store(try stored(name, "content of \(name)"))
                    let found = try await cache.lookup(request(name))
                    #expect(found?.data == Data("content of \(name)".utf8))
                }
            }
            try await group.waitForAll()
        }
        #expect(folder.names.count == 20)
    }
}
