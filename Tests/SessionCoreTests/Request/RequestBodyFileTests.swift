// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import TestSupport
import Testing

struct RequestBodyFileTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func request(_ body: RequestBody?) throws -> SessionRequest {
        try SessionRequest("http://example.com", method: .post, body: body)
    }

    @Test("a body is written into a file, which is the body then")
    func written() throws {
        var form = MultipartFormData()
        form.throttle = .suggested3G
        try form.append(Data(repeatElement(1, count: 200_000)), name: "d")
        try form.appendFile(try folder.file("source", repeatElement(2, count: 100_000)), name: "f")
        let body = form.makeBody()
        let path = folder("body")
        let request = try request(.stream(body)).writingBody(toFile: path)
        guard case .file(path) = request.body else {
            Issue.record("the body is no file")
            return
        }
        form.throttle = nil
        #expect(try Array(Data(contentsOf: URL(filePath: path))) == readAll(form.makeBody()))
        let copy = try request.writingBody(toFile: folder("copy"))
        #expect(copy.url == request.url && copy.method == .post)
        #expect(try Data(contentsOf: URL(filePath: folder("copy"))).count == Int(body.length ?? 0))
        #expect(try self.request(nil).writingBody(toFile: folder("none")).body == nil)
    }

    @Test("a file that is there is replaced only where asked for, and only by a complete one")
    func existing() throws {
        let path = try folder.file("body", "old".utf8)
        let request = try request(.data(Data("new".utf8)))
        #expect(sessionError { _ = try request.writingBody(toFile: path) }?.code == .cannotCreateFile)
        let broken = try self.request(.stream(LiveSource(Array("half".utf8))))
        let error = sessionError { _ = try broken.writingBody(toFile: path, replacing: true) }
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self) == "old")
        _ = try request.writingBody(toFile: path, replacing: true)
        #expect(try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self) == "new")
        #expect(folder.names == ["body"])
    }

    @Test("nothing is left where writing fails")
    func failed() throws {
        let broken = try request(.stream(LiveSource(Array("half".utf8))))
        #expect(sessionError { _ = try broken.writingBody(toFile: folder("body")) } != nil)
        #expect(folder.names.isEmpty)
        let nowhere = sessionError {
            _ = try request(.data(Data())).writingBody(toFile: folder("no/such/folder"))
        }
        #expect(nowhere?.code == .cannotCreateFile)
    }

    private func content(of path: String) throws(SessionError) -> Data {
        let reader = try FileReader(path: path)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8192, alignment: 1)
        defer { buffer.deallocate() }
        var all = Data()
        while case .bytes(let count) = try reader.read(into: buffer) { all += buffer.prefix(count) }
        return all
    }

    @Test(
        "UPL-545 a file whose content the kernel makes while it is read is refused, not sent empty or called shrunk",
        arguments: ["/proc/meminfo", "/sys/devices/system/cpu/online"].filter {
            FileManager.default.isReadableFile(atPath: $0)
        })
    func sizeless(_ path: String) throws {
        #expect {
            try content(of: path)
        } throws: {
            ($0 as? SessionError)?.message
                == "\(path) has no size of its own: the kernel makes its content while it is read"
        }
    }

    @Test("UPL-545 an empty file is sent as one")
    func empty() throws {
        #expect(try content(of: folder.file("empty", [])).isEmpty)
    }
}
