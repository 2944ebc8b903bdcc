// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionCore
import SessionManager
import SessionManagerExtras
import TestSupport
import Testing

struct AssetDownloaderTests {
    private typealias Asset = Result<LoadedAsset<ImageDescription>, SessionError>

    private func images(
        _ lab: Lab, cache: AutoPurgingCache<ImageDescription>? = AutoPurgingCache(),
        order: AssetOrder = .firstInFirstOut, maximumActive: Int = 4
    ) -> AssetDownloader<ImageDescription> {
        AssetDownloader(
            manager: lab.manager, serializer: ImageResponseSerializer(), cache: cache, order: order,
            maximumActive: maximumActive)
    }

    private func code(_ asset: Asset) -> SessionError.Code? {
        if case .failure(let error) = asset { error.code } else { nil }
    }

    @Test("AF-248 no URL: badURL, no receipt")
    func noURL() async throws {
        let lab = try await Lab()
        let box = Box<Asset>()
        #expect(images(lab).download(nil) { box.put($0) } == nil)
        #expect(code(await box.value) == .badURL)
    }

    @Test(
        "AF-249 AF-250 one URL twice at once is fetched once, for both in order; later it comes from memory")
    func joined() async throws {
        let lab = try await Lab()
        let downloader = images(lab)
        let request = try lab.request("/image/png?w=3&h=2&key=af249")
        let seen = EventLog<(Int, Asset)>()
        let receipts = (0..<2).map { number in downloader.download(request) { seen.append((number, $0)) } }
        #expect(receipts[0] != nil && receipts[0] != receipts[1])
        let both = await seen.wait(forCount: 2)
        try #require(both.map(\.0) == [0, 1])
        let assets = try both.map { try $0.1.get() }
        #expect(assets[0].value == assets[1].value && assets[0].response == assets[1].response)
        #expect(assets[0].response?.statusCode == 200 && assets[0].value.width == 3)
        let again = Box<Asset>()
        #expect(downloader.download(request) { again.put($0) } == nil)
        let cached = try await again.value.get()
        #expect(cached.response == nil && cached.value == assets[0].value)
        #expect(try await lab.origin.count("af249") == 1)
        var fresh = request
        fresh.options.cachePolicy = .reloadIgnoringLocalCacheData
        let reloaded = Box<Asset>()
        #expect(downloader.download(fresh) { reloaded.put($0) } != nil)
        #expect(try await reloaded.value.get().response != nil)
        #expect(try await lab.origin.count("af249") == 2)
    }

    @Test("AF-252 what is not to be stored is fetched again")
    func notStored() async throws {
        let lab = try await Lab()
        let asked = EventLog<String>()
        let cache = AutoPurgingCache<ImageDescription>(shouldStore: { _, key in
            asked.append(key.url)
            return false
        }) { _ in 1 }
        let downloader = images(lab, cache: cache)
        let request = try lab.request("/image/png?key=af252")
        for _ in 0..<2 {
            let box = Box<Asset>()
            downloader.download(request) { box.put($0) }
            #expect(try await box.value.get().response != nil)
        }
        #expect(cache.count == 0)
        #expect(asked.elements == [request.url.absoluteString, request.url.absoluteString])
        #expect(try await lab.origin.count("af252") == 2)
    }

    @Test(
        "AF-253 leaving fails this one alone; after the last one nothing is stored, and a new request is a new fetch"
    )
    func left() async throws {
        let lab = try await Lab()
        let cache = AutoPurgingCache<ImageDescription>()
        let downloader = images(lab, cache: cache)
        let held = try lab.request("/hold/af253?key=af253")
        let (first, second) = (Box<Asset>(), Box<Asset>())
        let one = try #require(downloader.download(held) { first.put($0) })
        let two = try #require(downloader.download(held) { second.put($0) })
        downloader.cancel(one)
        downloader.cancel(one)
        guard case .failure(let error) = await first.value else { throw LabError("it did not fail") }
        #expect(error.code == .cancelled && error.message.contains(held.url.absoluteString))
        #expect(second.count == 0)
        downloader.cancel(two)
        _ = await second.value
        try await lab.origin.wait(for: "af253", [.active: 0])
        let image = try lab.request("/image/png?key=af253-image")
        for _ in 0..<5 {
            let box = Box<Asset>()
            let receipt = try #require(downloader.download(image) { _ in })
            downloader.cancel(receipt)
            downloader.download(image) { box.put($0) }
            #expect(try await box.value.get().value.format == .png)
            #expect(cache.remove(AssetKey(image)))
        }
        let last = Box<Asset>()
        let receipt = try #require(downloader.download(image) { last.put($0) })
        downloader.cancel(receipt)
        _ = await last.value
        while lab.manager.tasks.count > 0 { await Task.yield() }
        #expect(cache.count == 0)
        #expect(first.count == 1 && second.count == 1)
    }

    @Test("AF-254 at most four at a time; the receipt's own id; completions where they are wanted")
    func limit() async throws {
        let lab = try await Lab { $0.maximumConnectionsPerHost = 16 }
        let seen = EventLog<Data>()
        let calls = EventLog<Bool>()
        let downloader = AssetDownloader(
            manager: lab.manager, serializer: DataResponseSerializer(), cache: nil,
            queue: .custom { work in
                calls.append(true)
                work()
            })
        let id = UUID()
        for number in 0..<8 {
            let request = try lab.request("/hold/af254?key=af254&n=\(number)")
            let receipt = downloader.download(request, id: number == 0 ? id : UUID()) { result in
                if let asset = try? result.get() { seen.append(asset.value) }
            }
            #expect(number > 0 || receipt?.id == id)
        }
        try await lab.origin.wait(for: "af254", [.count: 4])
        #expect(lab.manager.tasks.count == 4)
        try await lab.origin.release("af254")
        #expect(await seen.wait(forCount: 8).count == 8)
        #expect(calls.elements.count == 8)
        let statistics = try await lab.origin.statistics("af254")
        #expect(statistics.count == 8 && statistics.peak <= 4)
        let failed = Box<SessionError.Code?>()
        downloader.download(try lab.request("/", at: .refused)) { result in
            if case .failure(let error) = result { failed.put(error.code) } else { failed.put(nil) }
        }
        #expect(await failed.value == .cannotConnectToHost)
        #expect(calls.elements.count == 9)
    }

    @Test("AF-254 the first come first, or the last", arguments: AssetOrder.allCases)
    func order(_ order: AssetOrder) async throws {
        let lab = try await Lab()
        let key = "af254-\(order.rawValue)"
        let seen = EventLog<Bool>()
        let downloader = images(lab, order: order, maximumActive: 1)
        for number in 0..<4 {
            downloader.download(try lab.request("/image/png?w=\(number + 1)&key=\(key)")) { _ in
                seen.append(true)
            }
        }
        #expect(await seen.wait(forCount: 4).count == 4)
        let widths = try await lab.origin.statistics(key).requests.map { line in
            (1...4).first { line.contains("w=\($0)&") }
        }
        #expect(widths == (order == .firstInFirstOut ? [1, 2, 3, 4] : [1, 4, 3, 2]))
    }
}
