// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

/// Cannot read the first so many contents that it is given; notes each.
private final class Reader: ResponseSerializer {
    let read = Diary<String>()
    private let failures: Mutex<Int>

    init(failures: Int) { self.failures = Mutex(failures) }

    func serialize(_ data: Data?, response: SessionResponse?) -> SerializedResponse<String> {
        let text = String(decoding: data ?? Data(), as: UTF8.self)
        read.record(text)
        let fails = failures.withLock { left in
            left -= 1
            return left >= 0
        }
        guard fails else { return SerializedResponse(text) }
        return SerializedResponse(
            nil, error: SessionError(.cannotParseResponse, "unreadable", domain: .responseSerialization))
    }

    func refusal(of response: SessionResponse) -> SessionError? { nil }
}

/// Wants another try so often; notes why.
private struct Tries: RequestRetrier {
    let reasons = Diary<SessionError.Code?>()
    var count = 1

    func retry(_ request: SessionRequest, state: RequestState, after error: any Error) async -> RetryDecision
    {
        reasons.record((error as? SessionError)?.code)
        return state.retryCount < count ? .retry : .doNotRetry
    }

    var options: TaskOptions {
        var options = TaskOptions()
        options.interceptor = Interceptor(retriers: [self])
        return options
    }
}

private struct Echo: Decodable, Equatable, Sendable { let method: String }

struct UnreadableContentTests {
    @Test("a task with a block is tried again, and each content is read once", arguments: [1, 3])
    func block(_ failures: Int) async throws {
        let lab = try await Lab()
        let (reader, tries, key) = (Reader(failures: failures), Tries(), "unread-block-\(failures)")
        lab.manager.responseSerializer = reader
        let end = try await lab.run(lab.request("/get?key=\(key)"), options: tries.options)
        #expect(tries.reasons.all == Array(repeating: .cannotParseResponse, count: min(failures, 2)))
        #expect(reader.read.all.count == 2)
        #expect(end.object as? String == (failures == 1 ? reader.read.all.last : nil))
        #expect(end.error?.code == (failures == 1 ? nil : .cannotParseResponse))
        #expect(try await lab.origin.count(key) == 2)
    }

    @Test("an upload is sent again")
    func upload() async throws {
        let lab = try await Lab()
        lab.manager.responseSerializer = Reader(failures: 1)
        let box = Box<Finished>()
        let task = try lab.manager.uploadTask(
            with: lab.request("/upload?key=unread-upload", .put), from: Data(count: 4000),
            options: Tries().options
        ) { box.put(Finished(response: $0, object: $1, error: $2)) }
        task.resume()
        let end = await box.value
        #expect((end.object as? String)?.contains("4000") == true, "\(end)")
        #expect(try await lab.origin.count("unread-upload") == 2)
    }

    @Test("an object that is waited for", arguments: [0, 1])
    func object(_ retries: Int) async throws {
        let lab = try await Lab()
        let (reader, tries) = (Reader(failures: 1), Tries(count: retries))
        let request = try lab.request("/get?key=unread-object-\(retries)")
        if retries == 0 {
            await #expect(throws: SessionError.self) {
                try await lab.manager.object(for: request, using: reader, options: tries.options)
            }
        } else {
            let text = try await lab.manager.object(for: request, using: reader, options: tries.options)
            #expect(text == reader.read.all.last)
        }
        #expect(reader.read.all.count == 1 + retries)
        #expect(tries.reasons.all == [.cannotParseResponse])
    }

    @Test("the value of an answer: another type, no content, null")
    func value() async throws {
        let lab = try await Lab()
        let api = try HTTPSessionManager(
            baseURL: lab.origin.url("/"), configuration: lab.manager.configuration)
        let tries = Tries()
        let echo: Echo = try await api.get(
            "retry-after?key=unread-value&times=1&status=200", options: tries.options)
        #expect(echo.method == "GET")
        #expect(try await lab.origin.count("unread-value") == 2)
        await #expect(throws: SessionError.self) {
            let _: Echo = try await api.get("status/204?key=unread-empty", options: tries.options)
        }
        #expect(try await lab.origin.count("unread-empty") == 2)
        #expect(tries.reasons.all == Array(repeating: .cannotParseResponse, count: 3))
        let null: Echo? = try await api.get(
            "body?type=application/json&text=null", options: tries.options)
        #expect(null == nil)
        #expect(tries.reasons.all.count == 3)
    }

    @Test("a refused status is asked about once, whatever the content")
    func refused() async throws {
        let lab = try await Lab()
        let tries = Tries()
        let api = try HTTPSessionManager(
            baseURL: lab.origin.url("/"), configuration: lab.manager.configuration)
        await #expect(throws: SessionError.self) {
            let _: Echo = try await api.get("status/404?key=unread-refused", options: tries.options)
        }
        let end = try await lab.run(lab.request("/status/404?key=unread-refused"), options: tries.options)
        #expect(end.error?.code == .badServerResponse)
        #expect(tries.reasons.all == Array(repeating: .badServerResponse, count: 4))
        #expect(try await lab.origin.count("unread-refused") == 4)
    }

    @Test("content without a reader is tried by no retrier: as it is, or as a file")
    func unread() async throws {
        let lab = try await Lab()
        let (folder, reader, tries) = (try ScratchFolder(), Reader(failures: 9), Tries())
        lab.manager.responseSerializer = reader
        let request = try lab.request("/get?key=unread-unread")
        _ = try await lab.manager.data(for: request, options: tries.options)
        _ = try await lab.manager.download(
            request, to: DownloadDestination(folder("file")), options: tries.options)
        let (_, content) = try await lab.manager.stream(for: request, options: tries.options)
        for try await _ in content {}
        #expect(reader.read.all.isEmpty)
        #expect(tries.reasons.all.isEmpty)
        #expect(try await lab.origin.count("unread-unread") == 3)
    }

    @Test("monitors hear of each reading before the try that follows it")
    func steps() async throws {
        let lab = try await Lab()
        let (steps, ended) = (Diary<String>(), Box<Bool>())
        lab.manager.eventMonitors = [
            EventMonitor { _, step in
                switch step {
                case .serialized(let error): steps.record(error == nil ? "read" : "unread")
                case .retrying: steps.record("retrying")
                case .completed(let error):
                    steps.record(error == nil ? "done" : "failed")
                    ended.put(true)
                default: break
                }
            }
        ]
        lab.manager.responseSerializer = Reader(failures: 1)
        _ = try await lab.run(lab.request("/get"), options: Tries().options)
        _ = await ended.value
        #expect(steps.all == ["unread", "retrying", "read", "done"])
    }

    @Test("what could not be read is not stored, unless it was the last")
    func storing() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let cache = DiskResponseCache(directory: folder("cache"), diskCapacity: 1 << 20, memoryCapacity: 0)
        lab.manager.cache = cache
        lab.manager.responseSerializer = Reader(failures: 1)
        let request = try lab.request("/cache/unread?key=unread-stored&cc=max-age%3D86400&change=1")
        let asked = Box<Bool>()
        var options = TaskOptions()
        options.interceptor = Interceptor(retriers: [
            Retrier { request, state, _ in
                asked.put(await cache.lookup(request) == nil)
                return state.retryCount == 0 ? .retry : .doNotRetry
            }
        ])
        let end = try await lab.run(request, options: options)
        #expect(end.error == nil)
        #expect(await asked.value, "nothing was stored when the retrier was asked")
        let stored = await cache.lookup(request)
        #expect(stored.map { String(decoding: $0.data, as: UTF8.self) } == end.object as? String)
    }

    @Test(
        "what was stored and cannot be read is not taken once more: the server is asked, and the newer content stays"
    )
    func stored() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let cache = DiskResponseCache(directory: folder("cache"), diskCapacity: 1 << 20, memoryCapacity: 0)
        lab.manager.cache = cache
        let request = try lab.request("/cache/again?key=unread-again&cc=max-age%3D86400&change=1")
        let (first, _) = try await lab.manager.data(for: request)
        let reader = Reader(failures: 1)
        let text = try await lab.manager.object(for: request, using: reader, options: Tries().options)
        #expect(reader.read.all.first == String(decoding: first, as: UTF8.self))
        #expect(text != nil && text != reader.read.all.first)
        #expect(try await lab.origin.count("unread-again") == 2)
        let stored = await cache.lookup(request)
        #expect(stored.map { String(decoding: $0.data, as: UTF8.self) } == text)
    }

    @Test("where the network must not be asked, what is stored is all there is")
    func storedAlone() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        lab.manager.cache = DiskResponseCache(
            directory: folder("cache"), diskCapacity: 1 << 20, memoryCapacity: 0)
        var request = try lab.request("/cache/alone?key=unread-alone&cc=max-age%3D86400&change=1")
        _ = try await lab.manager.data(for: request)
        request.options.cachePolicy = .returnCacheDataDontLoad
        let (reader, tries) = (Reader(failures: 1), Tries())
        let text = try await lab.manager.object(for: request, using: reader, options: tries.options)
        #expect(text == reader.read.all.first)
        #expect(tries.reasons.all == [.cannotParseResponse])
        #expect(try await lab.origin.count("unread-alone") == 1)
    }
}
