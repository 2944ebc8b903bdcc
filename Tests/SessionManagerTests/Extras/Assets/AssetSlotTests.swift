// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import SessionManagerExtras
import TestSupport
import Testing

struct AssetSlotTests {
    private func slot(_ lab: Lab, _ seen: EventLog<String?>) -> AssetSlot<String> {
        let downloader = AssetDownloader(
            manager: lab.manager, serializer: StringResponseSerializer(),
            cache: AutoPurgingCache<String> { Int64($0.utf8.count) })
        return AssetSlot(downloader) { seen.append($0) }
    }

    @Test("AF-257 a failure leaves the placeholder; no URL shows it and is badURL")
    func placeholder() async throws {
        let lab = try await Lab()
        let seen = EventLog<String?>()
        let slot = slot(lab, seen)
        let box = Box<SessionError?>()
        slot.load(try lab.request("/status/404"), placeholder: "…") { result in
            if case .failure(let error) = result { box.put(error) } else { box.put(nil) }
        }
        #expect(await box.value?.code == .badServerResponse)
        #expect(seen.elements == ["…"])
        let nothing = Box<SessionError.Code?>()
        slot.load(nil, placeholder: "none") { result in
            if case .failure(let error) = result { nothing.put(error.code) } else { nothing.put(nil) }
        }
        #expect(await nothing.value == .badURL)
        #expect(seen.elements == ["…", "none"])
    }

    @Test("AF-257 one URL twice is one request; of two only the newer is shown; memory is shown at once")
    func newest() async throws {
        let lab = try await Lab()
        let seen = EventLog<String?>()
        let slot = slot(lab, seen)
        let slow = try lab.request("/hold/af257?key=af257")
        slot.load(slow, placeholder: "a")
        slot.load(slow, placeholder: "b")
        try await lab.origin.wait(for: "af257", [.count: 1])
        let quick = try lab.request("/body?text=quick")
        slot.load(quick, placeholder: "c")
        #expect(await seen.wait(forCount: 3) == ["a", "c", "quick"])
        // Its transfer was cancelled.
        try await lab.origin.wait(for: "af257", [.active: 0])
        #expect(try await lab.origin.count("af257") == 1)
        slot.load(quick, placeholder: "d")
        #expect(seen.elements == ["a", "c", "quick", "quick"])
        let box = Box<String?>()
        slot.load(quick) { box.put(try? $0.get().value) }
        #expect(await box.value == "quick")
        #expect(seen.elements.count == 4)
    }

    @Test(
        "AF-258 a page: decoded by its charset, transformed, with progress and header field; a second load cancels the first"
    )
    func page() async throws {
        let lab = try await Lab()
        let loader = PageLoader(lab.manager)
        let diary = Diary<TransferProgress.Snapshot>()
        let latin = try lab.request("/body?type=text/html;charset=iso-8859-1&hex=67fc6e")
        let page = try await loader.load(latin, progress: { diary.record($0) }) {
            "\($0.statusCode ?? 0) \($1)"
        }
        #expect(page == "200 gün")
        while diary.all.last?.fractionCompleted != 1 { await Task.yield() }
        let plain = try await loader.load(lab.request("/body?type=text/html&text=g%C3%BCn"))
        #expect(plain == "gün")
        var fields = try lab.request("/headers")
        try fields.setValue("yes", forHeader: "X-Custom")
        #expect(try await loader.load(fields).contains("yes"))
        let held = try lab.request("/hold/af258?key=af258")
        let first = Task { try await loader.load(held) }
        try await lab.origin.wait(for: "af258", [.count: 1])
        _ = try await loader.load(lab.request("/html"))
        await #expect {
            _ = try await first.value
        } throws: {
            ($0 as? SessionError)?.code == .cancelled
        }
    }
}
