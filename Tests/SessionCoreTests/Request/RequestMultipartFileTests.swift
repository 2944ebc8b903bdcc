// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SessionCore
import TestSupport
import Testing

struct RequestMultipartFileTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    @Test(
        "AF-076 a file has its last component as name, and the type of its extension",
        arguments: [
            ("a.txt", "text/plain"), ("a.b.PNG", "image/png"), ("a.jpg", "image/jpeg"),
            ("a.json", "application/json"),
            ("ü.cer", "application/x-x509-ca-cert"), ("a.unknownext", "application/octet-stream"),
            ("noext", "application/octet-stream"), ("a b%20.txt", "text/plain"),
        ])
    func names(_ name: String, _ type: String) throws {
        let path = try folder.file(name, "Data".utf8)
        var form = MultipartFormData(boundary: RequestMultipartTests.boundary)
        try form.appendFile(URL(filePath: path), name: "f")
        try form.appendFile(path, name: "f", fileName: "own.zip", mimeType: nil)
        try form.appendFile(path, name: "f", fileName: nil, mimeType: "own/type")
        let text = String(decoding: try readAll(form.makeBody()), as: UTF8.self)
        let head = "Content-Disposition: form-data; name=\"f\"; filename="
        #expect(text.contains("\(head)\"\(name)\"\r\nContent-Type: \(type)\r\n\r\nData\r\n"))
        #expect(text.contains("\(head)\"own.zip\"\r\nContent-Type: application/zip\r\n\r\nData\r\n"))
        #expect(text.contains("\(head)\"\(name)\"\r\nContent-Type: own/type\r\n\r\nData\r\n"))
    }

    @Test("AF-077 a URL that is no file's is refused")
    func noFileURL() throws {
        let url = try #require(URL(string: "http://h/f"))
        var form = MultipartFormData()
        let error = sessionError { try form.appendFile(url, name: "f") }
        #expect(error?.code.rawValue == -1000 && error?.domain == .requestSerialization)
        #expect(error?.message == "Expected URL to be a file URL")
        #expect(error?.failingURL == url)
        #expect(form.isEmpty)
    }

    @Test("AF-078 a file that is not there, or is none, is refused", arguments: ["missing", "", "fifo"])
    func missing(_ name: String) throws {
        if name == "fifo" { #expect(mkfifo(folder("fifo"), 0o600) == 0) }
        var form = MultipartFormData()
        let error = sessionError { try form.appendFile(URL(filePath: folder(name)), name: "f") }
        #expect(error?.code.rawValue == -1000 && error?.domain == .requestSerialization)
        #expect(error?.message == "File URL not reachable.")
        #expect(error?.advice.isEmpty == false && error?.failingURL != nil)
        #expect(form.isEmpty)
    }

    @Test("AF-080 whatever the buffer, the bytes are the same and as many as announced")
    func buffers() throws {
        let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var form = MultipartFormData(boundary: RequestMultipartTests.boundary)
        try form.append("value", name: "key")
        try form.appendFile(try folder.file("f.bin", content), name: "f")
        try form.appendFile(try folder.file("empty", []), name: "e")
        try form.append(DataStream(content), length: 100_000, name: "s", fileName: "s", mimeType: "a/b")
        let body = form.makeBody()
        let whole = try readAll(body, buffer: 1 << 20)
        #expect(Int64(whole.count) == body.length)
        for size in [1, 7, 1024] { #expect(try readAll(body, buffer: size) == whole) }
    }

    @Test("AF-081 a body that was read half begins anew, from the first byte")
    func anew() throws {
        var form = MultipartFormData()
        try form.appendFile(try folder.file("f", repeatElement(7, count: 5000)), name: "f")
        try form.append(Data(repeatElement(8, count: 5000)), name: "d")
        let body = form.makeBody()
        let half = UnsafeMutableRawBufferPointer.allocate(byteCount: 6000, alignment: 1)
        defer { half.deallocate() }
        let first = try body.makeReader()
        #expect(try first.read(into: half) == .bytes(6000))
        let whole = try readAll(body)
        #expect(whole.starts(with: half) && Int64(whole.count) == body.length)
        #expect(try Array(half) + readAll(first) == whole)
    }

    @Test(
        "AF-082 a file that changes its size or vanishes before it is sent fails the body",
        arguments: ["shrink", "grow", "vanish"])
    func changedBefore(_ change: String) throws {
        let path = try folder.file("f", repeatElement(7, count: 5000))
        var form = MultipartFormData()
        try form.appendFile(path, name: "f")
        let body = form.makeBody()
        #expect(Int64(try readAll(body).count) == body.length)
        switch change {
        case "shrink": #expect(truncate(path, 4999) == 0)
        case "grow": #expect(truncate(path, 5001) == 0)
        default: #expect(unlink(path) == 0)
        }
        let error = sessionError { _ = try body.makeReader() }
        #expect(error?.code == (change == "vanish" ? .fileDoesNotExist : .requestBodyStreamExhausted))
    }

    @Test(
        "AF-082 a file that changes its size while it is sent fails the body before its last byte",
        arguments: [4096, 9_999, 10_001, 1 << 20])
    func changedMeanwhile(_ size: Int) throws {
        let path = try folder.file("f", repeatElement(7, count: 10_000))
        var form = MultipartFormData()
        try form.appendFile(path, name: "f")
        let body = form.makeBody()
        for request in [body, FilePart(path: path)] as [any BodySource] {
            #expect(truncate(path, 10_000) == 0)
            let reader = try request.makeReader()
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 5000, alignment: 1)
            defer { buffer.deallocate() }
            #expect(try reader.read(into: buffer) == .bytes(5000))
            #expect(truncate(path, off_t(size)) == 0)
            var count = 5000
            let error = sessionError {
                while case .bytes(let more) = try reader.read(into: buffer) { count += more }
            }
            #expect(error?.code == .requestBodyStreamExhausted)
            #expect(count < request.length ?? 10_000)
        }
    }

    /// A file as a body of its own.
    private struct FilePart: BodySource {
        let path: String
        var length: Int64? { nil }
        var isRewindable: Bool { true }
        func makeReader() throws(SessionError) -> any BodyReader { try FileReader(path: path) }
    }

    @Test("a form with many files has one open at a time")
    func descriptors() throws {
        var form = MultipartFormData()
        let path = try folder.file("f", "x".utf8)
        for _ in 0..<3000 { try form.appendFile(path, name: "f") }
        #expect(Int64(try readAll(form.makeBody()).count) == form.length)
    }

    @Test("AF-090 a part of 1 GiB is read with less than 16 MiB more memory")
    func memory() throws {
        let path = try folder.file("big", [])
        #expect(truncate(path, 1 << 30) == 0)
        var form = MultipartFormData()
        try form.appendFile(path, name: "big")
        // Other tests run at the same time and take memory, too: of several readings the least counts.
        var least = Int.max
        for _ in 0..<3 where least >= 16 << 20 {
            let before = try Self.residentBytes()
            let reader = try form.makeBody().makeReader()
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            defer { buffer.deallocate() }
            var count: Int64 = 0
            var peak = before
            while case .bytes(let more) = try reader.read(into: buffer) {
                count += Int64(more)
                if count % (64 << 20) < Int64(more) { peak = max(peak, try Self.residentBytes()) }
            }
            #expect(count == form.length)
            least = min(least, peak - before)
        }
        #expect(least < 16 << 20)
    }

    /// What statm (proc_pid_statm(5)) says in its second column, in pages.
    private static func residentBytes() throws -> Int {
        let text = String(decoding: try Data(contentsOf: URL(filePath: "/proc/self/statm")), as: UTF8.self)
        return try #require(Int(text.split(separator: " ")[1])) * sysconf(Int32(_SC_PAGESIZE))
    }
}

/// Bytes as a source that does not know its length.
private struct DataStream: BodySource {
    let bytes: [UInt8]
    var length: Int64? { nil }
    var isRewindable: Bool { true }

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func makeReader() throws(SessionError) -> any BodyReader { try DataBody(Data(bytes)).makeReader() }
}
