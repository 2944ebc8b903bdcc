// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

struct MultipartTests {
    private func manager() async throws -> HTTPSessionManager {
        let origin = try await TestSupport.Origin.shared
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        return try HTTPSessionManager(baseURL: origin.url("/", at: .direct), configuration: configuration)
    }

    private func form() throws -> MultipartFormData {
        var form = MultipartFormData(boundary: MultipartBoundary(1))
        try form.append(Data("hello".utf8), name: "file", fileName: "a.txt", mimeType: "text/plain")
        return form
    }

    private struct Echo: Decodable, Sendable {
        var form: [String: String]
        var files: [String: String]
        var headers: [String: String]
        var size: Int
        var chunked: Bool
    }

    @Test("AF-070 a form has its length on the wire and is not chunked")
    func length() async throws {
        let echo: Echo = try await manager().post("post", parameters: ["key": "value"], multipart: form())
        #expect(echo.headers["Content-Length"] == "240")
        #expect(echo.size == 240)
        #expect(!echo.chunked)
        #expect(echo.headers["Transfer-Encoding"] == nil)
        #expect(
            echo.headers["Content-Type"] == "multipart/form-data; boundary=Boundary+0000000000000001")
    }

    @Test("AF-172 a form is POSTed in one line, and with a block that follows its progress")
    func verbs() async throws {
        let api = try await manager()
        var form = MultipartFormData()
        try form.append(
            Data("Data".utf8), name: "DataName", fileName: "DataFileName", mimeType: "text/plain")
        let echo: Echo = try await api.post("post", parameters: ["key": "value"], multipart: form)
        #expect(echo.form == ["key": "value"])
        #expect(echo.files == ["DataName": "Data"])

        let (box, diary, whole) = (Box<Finished>(), Diary<Int64>(), Box<Int64>())
        var options = TaskOptions()
        options.uploadProgress = {
            diary.record($0.completedBytes)
            if $0.fractionCompleted == 1 { whole.put($0.completedBytes) }
        }
        let task = api.post("post", parameters: ["key": "value"], multipart: form, options: options) {
            box.put(Finished(response: $0, object: $1, error: $2))
        }
        #expect(task?.kind == .upload)
        let json = await box.value.json
        #expect(json?["form"]?["key"] == "value")
        #expect(json?["files"]?["DataName"] == "Data")
        let size = await whole.value
        #expect(json?["size"] == .integer(size))
        #expect(diary.all == diary.all.sorted())
    }

    @Test("AF-184 a header field of the call does not take the form's boundary away")
    func contentType() async throws {
        let echo: Echo = try await manager().post(
            "post", multipart: form(), headers: ["content-TYPE": "x/y", "X-Other": "kept"])
        #expect(
            echo.headers["Content-Type"] == "multipart/form-data; boundary=Boundary+0000000000000001")
        #expect(echo.headers["X-Other"] == "kept")
        #expect(echo.files == ["file": "hello"])
    }

    @Test("a form that cannot be sent: nil, and the block gets the reason")
    func refused() async throws {
        let api = try await manager()
        let box = Box<Finished>()
        let task = api.post("ftp://elsewhere/", multipart: try form()) {
            box.put(Finished(response: $0, object: $1, error: $2))
        }
        #expect(task == nil)
        #expect(await box.value.error?.code == .badURL)
    }

    @Test("AF-156 a form with a part that can be read once is not sent again")
    func once() async throws {
        let lab = try await Lab()
        var form = MultipartFormData()
        try form.append(OnceSource("once"), name: "a", fileName: "a", mimeType: "text/plain")
        let path = "/redirect-to?code=307&read=1&url=\(lab.origin.url("/post"))"
        let request = try HTTPRequestSerializer().serialize(
            lab.request(path, .post), parameters: nil, form: form)
        #expect(try await lab.run(request).error?.code == .requestBodyStreamExhausted)
    }

    @Test(
        "AF-089 a form is sent while the main thread is blocked, as in a process whose main thread runs no loop"
    )
    func blockedMain() async throws {
        let api = try await manager()
        let form = try form()
        let status = await MainActor.run { () -> Int? in
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return nil }
            let (reading, writing) = (ends[0], ends[1])
            defer { for end in ends { close(end) } }
            let box = Box<Finished>()
            api.post("post", multipart: form) {
                box.put(Finished(response: $0, object: $1, error: $2))
                _ = write(writing, [1], 1)
            }
            var wanted = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            // A guard against hanging: nothing but the completion block ends it before.
            guard poll(&wanted, 1, 60_000) == 1 else { return nil }
            return box.first?.response?.statusCode
        }
        #expect(status == 200)
    }
}
