// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// A manager with a cache in a folder, beside the test origin.
private struct CacheLab {
    let lab: Lab
    let folder: ScratchFolder
    let cache: DiskResponseCache

    /// - Parameter proxy: which listener everything is asked through; nil for none.
    init(in folder: ScratchFolder? = nil, behind proxy: OriginListener? = nil) async throws {
        let origin = try await TestSupport.Origin.shared
        lab = try await Lab { $0.proxy = proxy.map { "http://127.0.0.1:\(origin.port($0))" } ?? "" }
        self.folder = try folder ?? ScratchFolder()
        // Nothing in memory: what is found was on disk.
        cache = DiskResponseCache(directory: self.folder("cache"), diskCapacity: 1 << 20, memoryCapacity: 0)
        lab.manager.cache = cache
    }

    /// A request for `/cache/NAME`, counted under NAME.
    func request(
        _ name: String, _ query: String = "cc=max-age%3D86400", policy: CachePolicy = .useProtocolCachePolicy
    ) throws -> SessionRequest {
        var request = try lab.request("/cache/\(name)?key=\(name)&\(query)")
        request.options.cachePolicy = policy
        return request
    }

    /// Runs a data task to its end.
    func run(_ request: SessionRequest, options: TaskOptions = TaskOptions()) async throws -> TaskOutcome {
        let task = try lab.manager.dataTask(with: request, options: options)
        task.resume()
        return await task.outcome()
    }

    func count(_ name: String) async throws -> Int { try await lab.origin.count(name) }

    /// Stores the content "stale" for a request.
    func storeStale(_ request: SessionRequest, cacheControl: String) {
        let head = SessionResponse(
            url: request.url, statusCode: 200,
            headerFields: [.eTag: "\"1\"", .cacheControl: cacheControl])
        let entry = CacheEntry(
            request: request, response: head, requestDate: Date(), responseDate: Date(), contentLength: 5)
        cache.store(StoredResponse(entry: entry, data: Data("stale".utf8)))
    }
}

extension TaskOutcome {
    fileprivate var text: String { String(decoding: data ?? Data(), as: UTF8.self) }
}

struct CachedTaskTests {
    @Test("a fresh response is used without the network: head, content, progress, no metrics")
    func fresh() async throws {
        let lab = try await CacheLab()
        let request = try lab.request("fresh")
        let first = try await lab.run(request)
        let task = try lab.lab.manager.dataTask(with: request)
        task.resume()
        let second = await task.outcome()
        #expect(second.error == nil)
        #expect(second.data == first.data)
        #expect(second.data?.isEmpty == false)
        #expect(second.response?.statusCode == 200)
        #expect(second.response?.value(forHeader: "etag") == first.response?.value(forHeader: "etag"))
        #expect(second.response?.value(forHeader: "age") != nil)
        #expect(first.metrics.count == 1)
        #expect(second.metrics.isEmpty)
        #expect(task.downloadProgress.completedBytes == Int64(first.data?.count ?? -1))
        #expect(try await lab.count("fresh") == 1)
    }

    @Test("without a cache every request goes out, and one that must not fails")
    func noCache() async throws {
        let lab = try await CacheLab()
        lab.lab.manager.cache = nil
        for _ in 0..<2 { #expect(try await lab.run(lab.request("uncached")).error == nil) }
        let end = try await lab.run(lab.request("uncached", policy: .returnCacheDataDontLoad))
        #expect(end.error?.code == .resourceUnavailable)
        #expect(try await lab.count("uncached") == 2)
    }

    @Test("a stale response is confirmed by the server, and then fresh once more with the newer head")
    func revalidated() async throws {
        let lab = try await CacheLab()
        let first = try await lab.run(lab.request("stale", "cc=no-cache"))
        let second = try await lab.run(lab.request("stale", "cc=no-cache"))
        #expect(second.response?.statusCode == 200)
        #expect(second.data == first.data)
        #expect(second.metrics.count == 1)
        #expect(try await lab.count("stale") == 2)
    }

    @Test("a response that has changed takes the place of the stored one")
    func changed() async throws {
        let lab = try await CacheLab()
        let request = try lab.request("changed", "cc=no-cache&change=1")
        let texts = [try await lab.run(request).text, try await lab.run(request).text]
        #expect(texts[0] != texts[1])
        let stored = await lab.cache.lookup(request)
        #expect(stored.map { String(decoding: $0.data, as: UTF8.self) } == texts[1])
    }

    @Test("Vary: another value of the field is another response")
    func vary() async throws {
        let lab = try await CacheLab()
        let query = "cc=max-age%3D60&vary=Accept-Language&etag=0&lm=0"
        func language(_ name: String) async throws -> String {
            var request = try lab.request("vary", query)
            request.headerFields[.acceptLanguage] = name
            return try await lab.run(request).text
        }
        let german = try await language("de")
        #expect(try await language("de") == german)
        #expect(try await lab.count("vary") == 1)
        #expect(try await language("fr") != german)
        #expect(try await lab.count("vary") == 2)
    }

    @Test("no-store, in a response or a request, and a handler that wants nothing stored", arguments: 0..<4)
    func notStored(_ way: Int) async throws {
        let lab = try await CacheLab()
        let name = "no-store-\(way)"
        var request = try lab.request(name, way == 0 ? "cc=no-store" : "cc=max-age%3D60")
        var options = TaskOptions()
        switch way {
        case 1: request.headerFields[.cacheControl] = "no-store"
        case 2: options.cachedResponseHandler = .doNotCache
        case 3: lab.lab.manager.cachedResponseHandler = .doNotCache
        default: break
        }
        for _ in 0..<2 { #expect(try await lab.run(request, options: options).error == nil) }
        #expect(try await lab.count(name) == 2)
        #expect(await lab.cache.lookup(request) == nil)
    }

    @Test("a handler changes what is stored, and a task's own wins over the manager's")
    func modified() async throws {
        let lab = try await CacheLab()
        lab.lab.manager.cachedResponseHandler = .doNotCache
        var options = TaskOptions()
        options.cachedResponseHandler = ResponseCacher.modify { proposed, _ in
            CachedResponse(proposed.response, data: Data("changed".utf8))
        }
        #expect(try await lab.run(lab.request("modify"), options: options).text != "changed")
        #expect(try await lab.run(lab.request("modify")).text == "changed")
    }

    @Test("what each policy does with a stale response, and with none", arguments: CachePolicy.allCases)
    func policies(_ policy: CachePolicy) async throws {
        let lab = try await CacheLab()
        let name = "policy-\(policy.rawValue)"
        let missing = try await lab.run(lab.request(name, "cc=max-age%3D0", policy: policy))
        let mayLoad = policy != .returnCacheDataDontLoad
        #expect(missing.error?.code == (mayLoad ? nil : .resourceUnavailable))
        #expect(try await lab.count(name) == (mayLoad ? 1 : 0))
        if !mayLoad { _ = try await lab.run(lab.request(name, "cc=max-age%3D0")) }
        let end = try await lab.run(lab.request(name, "cc=max-age%3D0", policy: policy))
        #expect(end.error == nil)
        let isAsked = policy != .returnCacheDataDontLoad && policy != .returnCacheDataElseLoad
        #expect(try await lab.count(name) == (isAsked ? 2 : 1))
        #expect(end.text.contains("\"serial\": 2") == (policy == .reloadIgnoringLocalCacheData))
    }

    @Test("a fresh response is confirmed where that is wanted, and passed over where that is")
    func reloads() async throws {
        let lab = try await CacheLab()
        let first = try await lab.run(lab.request("reload"))
        let confirmed = try await lab.run(lab.request("reload", policy: .reloadRevalidatingCacheData))
        #expect(confirmed.data == first.data)
        #expect(try await lab.count("reload") == 2)
        let loaded = try await lab.run(lab.request("reload", policy: .reloadIgnoringLocalCacheData))
        #expect(loaded.data != first.data)
        #expect(try await lab.count("reload") == 3)
    }

    @Test(
        "what changes something takes the stored response away; what fails does not", arguments: [200, 500])
    func invalidation(_ status: Int) async throws {
        let lab = try await CacheLab()
        let name = "invalidated-\(status)"
        let request = try lab.request(name)
        _ = try await lab.run(request)
        var failing = request
        failing.method = .post
        if status == 500 { failing = try lab.lab.request("/status/500?key=\(name)", .post) }
        failing.body = .data(Data("x".utf8))
        #expect(try await lab.run(failing).response?.statusCode == status)
        _ = try await lab.run(request)
        #expect(try await lab.count(name) == (status == 200 ? 3 : 2))
    }

    @Test("the next process finds what an earlier one has stored")
    func restart() async throws {
        let first = try await CacheLab()
        let before = try await first.run(first.request("restart"))
        await first.cache.flush()
        let second = try await CacheLab(in: first.folder)
        let after = try await second.run(second.request("restart"))
        #expect(after.data == before.data)
        #expect(after.metrics.isEmpty)
        #expect(try await second.count("restart") == 1)
    }

    @Test("downloads are stored from their files and come out as files")
    func downloads() async throws {
        let lab = try await CacheLab()
        var texts: [String] = []
        for number in 0..<2 {
            let path = lab.folder("file-\(number)")
            let response = try await lab.lab.manager.download(
                lab.request("download"), to: DownloadDestination(path))
            #expect(response.statusCode == 200)
            texts.append(String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self))
        }
        #expect(texts[0] == texts[1])
        #expect(try await lab.run(lab.request("download")).text == texts[0])
        #expect(try await lab.count("download") == 1)
    }

    @Test("a response above the cache's limit is not stored, as data and as a file")
    func tooLarge() async throws {
        let lab = try await CacheLab()
        let request = try lab.lab.request("/range/200000?key=too-large")
        #expect(try await lab.run(request).data?.count == 200_000)
        #expect(await lab.cache.lookup(request) == nil)
        _ = try await lab.lab.manager.download(request, to: DownloadDestination(lab.folder("large")))
        #expect(await lab.cache.lookup(request) == nil)
    }

    @Test("streams neither use nor fill the cache")
    func streams() async throws {
        let lab = try await CacheLab()
        for _ in 0..<2 {
            let (_, stream) = try await lab.lab.manager.stream(for: lab.request("stream"))
            for try await _ in stream {}
        }
        #expect(try await lab.count("stream") == 2)
        #expect(await lab.cache.lookup(try lab.request("stream")) == nil)
    }

    @Test("a server that cannot be reached: stale content where it allows that", arguments: [true, false])
    func staleIfError(_ isAllowed: Bool) async throws {
        let lab = try await CacheLab()
        let request = try SessionRequest(lab.lab.origin.url("/cache/outage", at: .refused))
        lab.storeStale(
            request, cacheControl: isAllowed ? "max-age=0, stale-if-error=600" : "max-age=0")
        let end = try await lab.run(request)
        #expect(end.error?.code == (isAllowed ? nil : .cannotConnectToHost))
        #expect(end.text == (isAllowed ? "stale" : ""))
    }

    @Test("where a redirect leads to is used from the cache")
    func redirect() async throws {
        let lab = try await CacheLab()
        let target = try lab.request("target")
        let first = try await lab.run(target)
        let address = target.url.absoluteString.replacing("%", with: "%25").replacing("&", with: "%26")
        let request = try lab.lab.request("/redirect-to?url=\(address)")
        let end = try await lab.run(request)
        #expect(end.data == first.data)
        #expect(end.metrics.count == 1)
        #expect(try await lab.count("target") == 1)
    }

    @Test("a stale response is used at once while it is being confirmed")
    func whileRevalidating() async throws {
        let lab = try await CacheLab()
        let request = try lab.request("background", "cc=max-age%3D0,stale-while-revalidate%3D600")
        let first = try await lab.run(request)
        let second = try await lab.run(request)
        #expect(second.data == first.data)
        #expect(second.metrics.isEmpty)
        #expect(try await lab.lab.origin.wait(for: "background", [.count: 2]).count == 2)
    }

    @Test("a failing server: stale content where it allows that, else its answer", arguments: [true, false])
    func serverFails(_ isAllowed: Bool) async throws {
        let lab = try await CacheLab()
        let request = try lab.lab.request("/status/503")
        lab.storeStale(
            request, cacheControl: isAllowed ? "max-age=0, stale-if-error=600" : "max-age=0")
        let end = try await lab.run(request)
        #expect(end.response?.statusCode == (isAllowed ? 200 : 503))
        #expect(end.metrics.count == 1)
    }

    @Test("what is stored is confirmed with the credentials that the server asks for")
    func challengedMeanwhile() async throws {
        let lab = try await CacheLab()
        var options = TaskOptions()
        options.credential = .password(user: "u", password: "p")
        let request = try lab.lab.request("/basic-auth/u/p")
        lab.storeStale(request, cacheControl: "max-age=0")
        let end = try await lab.run(request, options: options)
        #expect(end.response?.statusCode == 200)
        #expect(end.text != "stale")
        #expect(end.metrics.count == 2)
    }

    @Test(
        "a challenge on the way does not forget what is stored: the 304 behind it stands for that",
        arguments: [false, true])
    func confirmedBehindChallenge(_ isProxy: Bool) async throws {
        // That server answers what is meant for a proxy as well.
        let lab = try await CacheLab(behind: isProxy ? .direct : nil)
        var options = TaskOptions()
        options.challengeHandler = { _ in .useCredential(.password(user: "u", password: "p")) }
        let name = "challenged-\(isProxy)"
        let query = "cc=max-age%3D0&auth=u:p&proxy=\(isProxy ? 1 : 0)"
        let first = try await lab.run(lab.request(name, query), options: options)
        let second = try await lab.run(lab.request(name, query), options: options)
        #expect(first.text.contains("serial"))
        #expect(second.text == first.text)
        #expect(second.response?.statusCode == 200)
        #expect(try await lab.count(name) == 4)
    }

    @Test("other credentials get no stored response without the server's word")
    func authorization() async throws {
        let lab = try await CacheLab()
        func get(_ token: String?) async throws -> TaskOutcome {
            var request = try lab.request("credentials")
            request.headerFields[.authorization] = token
            return try await lab.run(request)
        }
        _ = try await get("Bearer a")
        #expect(try await get("Bearer a").metrics.isEmpty)
        #expect(try await get("Bearer b").metrics.count == 1)
        #expect(try await lab.count("credentials") == 2)
    }
}
