// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Downloads that go on where an earlier one has ended.
struct ResumedDownloadTests {
    private func content(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)))
    }

    @Test("AF-166 a download that was cut is resumed: nothing comes twice, the whole is right")
    func resumed() async throws {
        struct Delegate: SessionDelegate {
            let resumed: Box<[Int64?]>
            func task(_ task: SessionTask, didResumeAt offset: Int64, expectedTotal: Int64?) async {
                resumed.put([offset, expectedTotal])
            }
        }
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let resumed = Box<[Int64?]>()
        lab.manager.delegate = Delegate(resumed: resumed)
        var options = TaskOptions()
        options.keepsPartialFile = true
        options.partialFile = folder("part")
        let request = try lab.request(
            "/fault/cut?n=400000&after=150000&times=1&kind=close&key=resumed", at: .direct)
        let cut = try lab.manager.downloadTask(with: request, options: options)
        cut.resume()
        let outcome = await cut.outcome()
        #expect(outcome.error?.code == .networkConnectionLost)
        let record = try #require(outcome.resumeRecord)
        #expect(record.receivedBytes == 150_000)
        #expect(record.totalBytes == 400_000)
        #expect(try content(folder("part")) == OriginContent.bytes(0..<150_000))
        #expect(resumed.count == 0)

        let again = try lab.manager.downloadTask(
            resuming: ResumeRecord(encoded: record.encoded()),
            destination: .file(DownloadDestination(folder("file"))))
        again.resume()
        let end = await again.outcome()
        #expect(end.error == nil)
        #expect(again.currentRequest.headerFields[.range] == "bytes=150000-")
        #expect(again.currentRequest.headerFields[.ifRange] == "\"cut-400000-1\"")
        #expect(end.response?.statusCode == 206)
        #expect(end.response?.value(forHeader: "Content-Range") == "bytes 150000-399999/400000")
        #expect(await resumed.value == [150_000, 400_000])
        #expect(try content(folder("file")) == OriginContent.bytes(0..<400_000))
        #expect(try await lab.origin.statistics("resumed").count == 2)
    }

    @Test("AF-168 what is no record of a download is an error, and leaves no task")
    func garbage() async throws {
        let lab = try await Lab()
        let good = try ResumeRecord(
            url: lab.request("/range/5000?key=garbage-record").url, eTag: "\"range-5000-1\"",
            receivedBytes: 10, totalBytes: 5000, partialFile: "/nonexistent/part")
        for garbage in [Data(), Data([0, 0xFF, 0x80]), Data("{}".utf8), try good.encoded().dropLast(9)] {
            #expect {
                try lab.manager.downloadTask(resuming: ResumeRecord(encoded: garbage))
            } throws: {
                ($0 as? SessionError)?.code == .badResumeRecord
            }
        }
        #expect(lab.manager.tasks.isEmpty)
        let task = try lab.manager.downloadTask(resuming: good)
        task.resume()
        #expect(await task.outcome().error != nil)
        #expect(lab.manager.tasks.isEmpty)
    }

    @Test("a file that changed meanwhile is fetched anew")
    func changed() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        try Data(OriginContent.bytes(0..<1000)).write(to: URL(filePath: folder("part")))
        let record = try ResumeRecord(
            url: lab.request("/range/5000?v=2").url, eTag: "\"range-5000-1\"", receivedBytes: 1000,
            totalBytes: 5000, partialFile: folder("part"))
        let task = try lab.manager.downloadTask(
            resuming: record, destination: .file(DownloadDestination(folder("file"))))
        task.resume()
        let end = await task.outcome()
        #expect(end.error == nil)
        #expect(end.response?.statusCode == 200)
        #expect(try content(folder("file")) == OriginContent.bytes(0..<5000, version: 2))
        // It was written where the part of the former file was.
        #expect(folder.names == ["file"])
    }

    @Test(
        "what cannot be resumed is written anew where it was: with a weak tag, with nothing, for a server without ranges or with a wrong answer",
        arguments: ["weak", "nothing", "ranges=0", "lie"])
    func anew(_ kind: String) async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let count = kind == "nothing" ? 0 : 1000
        if count > 0 { try Data(OriginContent.bytes(0..<count)).write(to: URL(filePath: folder("part"))) }
        let address =
            kind == "lie"
            ? lab.origin.faultURL("/fault/range?n=5000&lie=start")
            : lab.origin.url("/range/5000?\(kind == "weak" ? "weak=1" : kind)")
        let tag = kind == "lie" ? "\"lie-1\"" : "\"range-5000-1\""
        let record = try ResumeRecord(
            url: SessionRequest(address).url, eTag: kind == "weak" ? "W/\(tag)" : tag,
            receivedBytes: Int64(count), totalBytes: 5000, partialFile: folder("part"))
        let task = try lab.manager.downloadTask(resuming: record)
        task.resume()
        let end = await task.outcome()
        #expect(end.error == nil)
        #expect(end.filePath == folder("part"))
        #expect(try content(folder("part")) == OriginContent.bytes(0..<5000))
        #expect(folder.names == ["part"])
    }

    @Test("a download that was begun anew and cut is tried again from where it was cut")
    func anewAgain() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        try Data(OriginContent.bytes(0..<1000)).write(to: URL(filePath: folder("part")))
        let record = try ResumeRecord(
            url: SessionRequest(
                lab.origin.faultURL("/fault/cut?n=50000&after=9000&times=1&v=2&key=anew-again")
            ).url, eTag: "\"cut-50000-1\"", receivedBytes: 1000, totalBytes: 50_000,
            partialFile: folder("part"))
        let options = TaskOptions.retrying()
        let task = try lab.manager.downloadTask(resuming: record, options: options)
        task.resume()
        let end = await task.outcome()
        #expect(end.error == nil)
        #expect(task.currentRequest.headerFields[.range] == "bytes=9000-")
        #expect(try content(folder("part")) == OriginContent.bytes(0..<50_000, version: 2))
        #expect(try await lab.origin.count("anew-again") == 2)
    }

    private func rest(
        _ lab: Lab, _ folder: ScratchFolder, _ kind: String, total: Int64?
    ) throws -> (ResumeRecord, TaskOptions) {
        try Data(OriginContent.bytes(0..<10_000)).write(to: URL(filePath: folder("part")))
        let url = lab.origin.faultURL("/fault/range?n=100000&lie=\(kind)&key=rest-\(kind)")
        var options = TaskOptions()
        options.keepsPartialFile = true
        return (
            try ResumeRecord(
                url: SessionRequest(url).url, eTag: "\"lie-1\"", receivedBytes: 10_000, totalBytes: total,
                partialFile: folder("part")), options
        )
    }

    @Test(
        "a server that answers with less than was asked for is asked for the rest, until nothing is missing",
        arguments: [("few", 3), ("unsure", 4), ("broken", 4)])
    func less(_ kind: String, _ requests: Int) async throws {
        let (lab, folder) = (try await Lab(), try ScratchFolder())
        let (record, options) = try rest(lab, folder, kind, total: kind == "unsure" ? nil : 100_000)
        let task = try lab.manager.downloadTask(
            resuming: record, options: options, destination: .file(DownloadDestination(folder("file"))))
        task.resume()
        #expect(await task.outcome().error == nil)
        #expect(folder.names == ["file"])
        #expect(try content(folder("file")) == OriginContent.bytes(0..<100_000))
        #expect(task.downloadProgress.completedBytes == 100_000)
        #expect(try await lab.origin.count("rest-\(kind)") == requests)
    }

    @Test(
        "a server that sends nothing of what it announces, or more, is no server to resume from",
        arguments: [("nothing", true), ("much", false)])
    func moreOrNothing(_ kind: String, _ isKept: Bool) async throws {
        let (lab, folder) = (try await Lab(), try ScratchFolder())
        let (record, options) = try rest(lab, folder, kind, total: 100_000)
        let task = try lab.manager.downloadTask(
            resuming: record, options: options, destination: .file(DownloadDestination(folder("file"))))
        task.resume()
        let end = await task.outcome()
        #expect(end.error?.code == .badServerResponse)
        #expect(end.resumeRecord == (isKept ? record : nil))
        // What the record tells of is there in either case.
        #expect(try content(folder("part")).starts(with: OriginContent.bytes(0..<10_000)))
        #expect(folder.names == ["part"])
        #expect(try await lab.origin.count("rest-\(kind)") == 1)
    }

    @Test("a part is no whole: a part that was not asked for is an error, and leaves no file")
    func unaskedPart() async throws {
        let (lab, folder) = (try await Lab(), try ScratchFolder())
        let task = try lab.manager.downloadTask(
            with: SessionRequest(lab.origin.faultURL("/fault/range?n=100000&lie=unasked")),
            destination: .file(DownloadDestination(folder("file"))))
        task.resume()
        let end = await task.outcome()
        #expect(end.error?.code == .badServerResponse)
        #expect(end.filePath == nil)
        #expect(folder.names == [])
    }

    @Test("FLD-064 nor is it one for a data task or a stream; what asks for a part gets it")
    func unaskedPartElsewhere() async throws {
        let lab = try await Lab()
        var request = try SessionRequest(lab.origin.faultURL("/fault/range?n=1000&lie=unasked"))
        let task = try lab.manager.dataTask(with: request)
        task.resume()
        #expect(await task.outcome().error?.code == .badServerResponse)
        await #expect {
            _ = try await lab.manager.stream(for: request)
        } throws: {
            ($0 as? SessionError)?.code == .badServerResponse
        }
        request.headerFields[.range] = "bytes=0-9"
        #expect(try await lab.manager.data(for: request).0.count == 10)
    }

    @Test(
        "FLD-054 a partial file that has another name as well is no place for content",
        arguments: [false, true])
    func linkedPart(_ isContinued: Bool) async throws {
        let (lab, folder) = (try await Lab(), try ScratchFolder())
        try Data(OriginContent.bytes(0..<1000)).write(to: URL(filePath: folder("other")))
        #expect(link(folder("other"), folder("part")) == 0)
        var options = TaskOptions()
        options.partialFile = folder("part")
        let request = try lab.request("/range/5000")
        let record = try ResumeRecord(
            url: request.url, eTag: "\"range-5000-1\"", receivedBytes: 1000, totalBytes: 5000,
            partialFile: folder("part"))
        let task =
            isContinued
            ? try lab.manager.downloadTask(resuming: record)
            : try lab.manager.downloadTask(with: request, options: options)
        task.resume()
        #expect(await task.outcome().error?.code == .cannotCreateFile)
        #expect(try content(folder("other")) == OriginContent.bytes(0..<1000))
    }

    @Test(
        "FLD-033 a download that is tried again goes on where it was cut; with nothing to tell the version it begins anew",
        arguments: [true, false])
    func triedAgain(_ isTagged: Bool) async throws {
        let (lab, folder) = (try await Lab(), try ScratchFolder())
        var options = TaskOptions.retrying()
        options.partialFile = folder("part")
        let key = "tried-again-\(isTagged)"
        let path =
            "/fault/cut?n=100000&after=30000&kind=rst&times=2&key=\(key)\(isTagged ? "" : "&etag=0&lm=0")"
        let task = try lab.manager.downloadTask(
            with: lab.request(path, at: .direct), options: options,
            destination: .file(DownloadDestination(folder("file"))))
        task.resume()
        #expect(await task.outcome().error == nil)
        #expect(task.currentRequest.headerFields[.range] == (isTagged ? "bytes=60000-" : nil))
        #expect(try content(folder("file")) == OriginContent.bytes(0..<100_000))
        #expect(folder.names == ["file"])
        #expect(try await lab.origin.count(key) == 3)
    }

    @Test(
        "FLD-033 the policy for cuts goes on, and leaves alone what it would begin anew",
        arguments: [true, false])
    func continuation(_ isTagged: Bool) async throws {
        let (lab, folder) = (try await Lab(), try ScratchFolder())
        var policy = ContinuationRetryPolicy()
        policy.policy.scale = 0.001
        var options = TaskOptions()
        options.interceptor = policy
        let key = "continuation-\(isTagged)"
        let path = "/fault/cut?n=100000&after=30000&kind=rst&times=2&key=\(key)\(isTagged ? "" : "&weak=1")"
        let task = try lab.manager.downloadTask(
            with: lab.request(path, at: .direct), options: options,
            destination: .file(DownloadDestination(folder("file"))))
        task.resume()
        #expect(await task.outcome().error?.code == (isTagged ? nil : .networkConnectionLost))
        #expect(try await lab.origin.count(key) == (isTagged ? 3 : 1))
    }

    @Test("a partial file shorter than its record is refused")
    func shortPartialFile() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        try Data([1, 2, 3]).write(to: URL(filePath: folder("part")))
        let record = try ResumeRecord(
            url: lab.request("/range/5000").url, eTag: "\"range-5000-1\"", receivedBytes: 1000,
            totalBytes: 5000, partialFile: folder("part"))
        let task = try lab.manager.downloadTask(resuming: record)
        task.resume()
        #expect(await task.outcome().error?.code == .badResumeRecord)
    }

    @Test(
        "AF-168 a record that counts more than there is, or than there can be, is refused before anything is sent",
        arguments: [Int64.max, 1 << 40])
    func absurdCount(_ count: Int64) async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        try Data([1, 2, 3]).write(to: URL(filePath: folder("part")))
        let key = "absurd-count-\(count)"
        let text = """
            {"version":1,"url":"\(lab.origin.url("/basic-auth/u/p?key=\(key)"))","method":"GET",
            "eTag":"\\"x\\"","receivedBytes":\(count),"partialFile":"\(folder("part"))"}
            """
        var options = TaskOptions()
        options.challengeHandler = { _ in .performDefaultHandling }
        do {
            let task = try lab.manager.downloadTask(
                resuming: ResumeRecord(encoded: Data(text.utf8)), options: options)
            task.resume()
            #expect(await task.outcome().error?.code == .badResumeRecord)
        } catch {
            #expect(error.code == .badResumeRecord)
        }
        #expect(try await lab.origin.count(key) == 0)
        #expect(try content(folder("part")) == [1, 2, 3])
    }
}
