// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import TestSupport
import Testing

@testable import Outbox

/// Where files are fetched to, whether there is room, and which URLs are still asked.
@Suite struct DownloadRulesTests {
    @Test(
        "OBX-300 A path below a permitted folder is taken apart; the longest such folder is the root",
        arguments: [
            ("/data/a/b", ["/data"], "/data", ["a"], "b"),
            ("/data/a/b", ["/", "/data/a", "/data"], "/data/a", [], "b"),
            ("/data/b", ["/data/./"], "/data", [], "b"), ("/b", ["/"], "/", [], "b"),
            ("/data/.../..b", ["/data"], "/data", ["..."], "..b"),
        ])
    func paths(_ path: String, _ permitted: [String], _ root: String, _ folders: [String], _ name: String)
        throws
    {
        let found = try DownloadPath(path, below: permitted)
        #expect(found.root == root && found.folders == folders && found.name == name)
        #expect(found.text == path)
    }

    @Test(
        "OBX-301 Other paths are refused: relative ones, with . or .., empty names, other folders, names of the outbox's own",
        arguments: [
            "", "a", "./a", "/data", "/data/", "/data//a", "/data/./a", "/data/../etc/a", "/data/..",
            "/database/a", "/etc/a", "/data/a\u{0}b", "/data/a\nb", "/data/.reach-fetch-1",
            "/data/" + String(repeating: "x", count: 256),
            "/data/" + String(repeating: "a/", count: 2_100) + "b",
        ])
    func refused(_ path: String) {
        let error = #expect(throws: OutboxError.self) {
            try DownloadPath(path, below: ["/data", "relative"])
        }
        #expect(error?.code == .badRequest && error?.advice.isEmpty == false)
        #expect(throws: OutboxError.self) { try DownloadPath("/data/../data/a", below: ["/data/../data"]) }
    }

    @Test("OBX-302 Without a permitted folder nothing is fetched, and the refusal says what to do")
    func none() {
        let error = #expect(throws: OutboxError.self) { try DownloadPath("/data/a", below: []) }
        #expect(error?.message == "this outbox fetches no files")
        let other = #expect(throws: OutboxError.self) { try DownloadPath("/etc/a", below: ["/data"]) }
        #expect(other?.advice == "choose a path below /data, or add its folder to outbox.fetch.folders")
    }

    @Test("OBX-303 There is room for what leaves a reserve; the sentence promises no byte that is not there")
    func room() {
        let disk = DownloadRoom(free: 20_000_000, size: 100_000_000)
        #expect(disk.reserve == 5_000_000)
        #expect(disk.shortfall(of: 15_000_000) == nil)
        #expect(disk.shortfall(of: 15_000_001) == "no room: needs 16 MB, 15 MB free")
        let large = DownloadRoom(free: 12_000_000 + (16 << 20), size: 1 << 40)
        #expect(large.reserve == 16 << 20)
        #expect(large.shortfall(of: 40_000_000) == "no room: needs 40 MB, 12 MB free")
        let full = DownloadRoom(free: 1_000, size: 1_000_000)
        #expect(full.shortfall(of: 1) == "no room: needs 1 bytes, 0 bytes free")
        #expect(DownloadRoom.exhausted(after: 1_999) == "no room: the disk was full after 1.9 kB")
        #expect(ByteText.text(1_250, .up) == "1.3 kB" && ByteText.text(1_250, .down) == "1.2 kB")
        #expect(ByteText.text(9_990_000, .up) == "10 MB" && ByteText.text(999, .up) == "999 bytes")
    }

    private let urls = ["http://a/", "http://b/", "http://c/"].compactMap { URL(string: $0) }
    private let gone = DeliveryVerdict.dead(OutboxFailure(.refused, "gone", statusCode: 404))
    private let away = DeliveryVerdict.retry(OutboxFailure(.network, "away"))

    @Test("OBX-304 A URL that refuses for good is not asked again; when each has, the download is given up")
    func struck() {
        var strikes = MirrorStrikes(urls)
        strikes.asked(urls[0])
        strikes.failed(gone, next: urls[1])
        strikes.failed(away, next: urls[2])
        strikes.failed(gone)
        #expect(strikes.struck == 0b101 && strikes.open == [urls[1]])
        #expect(strikes.verdict == .retry(OutboxFailure(.network, "away")))
        var later = MirrorStrikes(urls, struck: strikes.struck)
        later.asked(urls[1])
        later.failed(gone)
        #expect(later.open.isEmpty)
        #expect(
            later.verdict
                == .dead(OutboxFailure(.refused, "gone, the last of 3 URLs", statusCode: 404)))
        var only = MirrorStrikes([urls[0]])
        only.failed(gone)
        #expect(only.verdict == gone)
        var named = MirrorStrikes(["http://u:p@a/1", "http://a/2"].compactMap { URL(string: $0) })
        named.asked(URL(string: "http://u:p@a/2")!)
        named.failed(gone)
        #expect(named.struck == 0b10)
    }

    @Test(
        "OBX-305 Where bytes of another server or an earlier attempt may be to blame, the URL gets one more try"
    )
    func joined() {
        let wrong = DeliveryVerdict.dead(OutboxFailure(.refused, "wrong"))
        var strikes = MirrorStrikes(urls)
        strikes.asked(urls[1])
        strikes.failed(wrong, next: urls[1])
        #expect(strikes.struck == 0)
        strikes.failed(wrong, isJoined: true)
        #expect(strikes.struck == 0 && strikes.verdict == .retry(OutboxFailure(.server, "wrong")))
        // A redirect to elsewhere is no other URL of the content.
        strikes.asked(URL(string: "http://cdn/")!)
        strikes.failed(wrong)
        #expect(strikes.struck == 0b10)
    }

    @Test(
        "OBX-306 What follows a failed download: no status delivers anything, and files fail for a while",
        arguments: [
            (SessionError.Code.cancelled, nil, nil), (.badServerResponse, 404, OutboxFailure.Kind.refused),
            (.badServerResponse, 410, .refused), (.badServerResponse, 503, .server),
            (.badServerResponse, 204, .server), (.badServerResponse, 302, .server),
            (.badServerResponse, 200, .server), (.checksumMismatch, 200, .refused),
            (.dataLengthExceedsMaximum, 200, .refused), (.cannotWriteToFile, 200, .local),
            (.networkConnectionLost, 200, .network), (.timedOut, nil, .network),
            (.cannotDecodeRawData, 200, .server), (.secureConnectionFailed, nil, .security),
        ] as [(SessionError.Code, Int?, OutboxFailure.Kind?)])
    func verdicts(_ code: SessionError.Code, _ status: Int?, _ kind: OutboxFailure.Kind?) {
        let verdict = DeliveryVerdict(download: SessionError(code, "m"), statusCode: status)
        switch verdict {
        case .untried: #expect(kind == nil)
        case .delivered: Issue.record("delivered")
        case .retry(let failure): #expect(failure.kind == kind && kind != .refused, "\(failure)")
        case .dead(let failure): #expect(failure.kind == kind && kind == .refused, "\(failure)")
        }
    }

    @Test(
        "OBX-307 Redirects without a checksum stay with TLS, or with the host; with one they go anywhere",
        arguments: [
            ("https://a/", "https://b/", true), ("https://a/", "http://a/", false),
            ("http://a/", "http://a:81/", true), ("http://a/", "https://a/", true),
            ("http://a/", "http://portal/", false), ("http://a/", "https://portal/", false),
        ])
    func redirects(_ here: String, _ there: String, _ follows: Bool) throws {
        let (from, to) = (try SessionRequest(here), try SessionRequest(there))
        #expect(DownloadRedirects(isChecked: false).follows(from: from, to: to) == follows)
        #expect(DownloadRedirects(isChecked: true).follows(from: from, to: to))
    }
}
