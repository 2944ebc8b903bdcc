// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import TestSupport
import Testing

struct RequestMultipartTests {
    static let boundary = MultipartBoundary(0x0123_4567_89AB_CDEF)
    static let line = "--Boundary+0123456789ABCDEF"

    private func multipart(
        _ parameters: ParameterValue? = nil, serializer: any RequestSerializer = HTTPRequestSerializer(),
        build: (inout MultipartFormData) throws(SessionError) -> Void = { _ throws(SessionError) in }
    ) throws -> SessionRequest {
        try serializer.makeMultipartRequest(
            "POST", "http://example.com", parameters: parameters, boundary: Self.boundary, build: build)
    }

    private func text(_ request: SessionRequest) throws -> String {
        guard case .stream(let source) = request.body else { return request.bodyText ?? "" }
        let bytes = try readAll(source)
        #expect(source.length == Int64(bytes.count))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let firstPart = "\(line)\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nvalue\r\n"

    @Test("AF-068 a parameter becomes a part, to the letter")
    func parameter() throws {
        let request = try multipart(["key": "value"])
        #expect(try text(request) == Self.firstPart + Self.line + "--\r\n")
        #expect(request.body?.length == 113)
    }

    @Test("AF-069 AF-070 data with a name and type follow, and type and length of the whole are known")
    func data() throws {
        let request = try multipart(["key": "value"]) { form throws(SessionError) in
            try form.append(Data("hello".utf8), name: "file", fileName: "a.txt", mimeType: "text/plain")
        }
        #expect(
            try text(request) == Self.firstPart + Self.line
                + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n"
                + "Content-Type: text/plain\r\n\r\nhello\r\n" + Self.line + "--\r\n")
        #expect(request.body?.length == 240)
        #expect(
            request.headerFields[values: .contentType]
                == ["multipart/form-data; boundary=Boundary+0123456789ABCDEF"])
        guard case .stream(let source) = request.body else { return }
        #expect(source.isRewindable)
    }

    @Test("AF-072 values of parameters: bytes are raw, null is empty, the rest is text")
    func values() throws {
        let request = try multipart(["d": .data(Data([0, 0xFF])), "n": 5, "t": true, "z": nil])
        guard case .stream(let source) = request.body else {
            Issue.record("no multipart body")
            return
        }
        let head: (String) -> String = {
            "\(Self.line)\r\nContent-Disposition: form-data; name=\"\($0)\"\r\n\r\n"
        }
        var expected = Array(head("d").utf8) + [0, 0xFF]
        for (name, value) in [("n", "5"), ("t", "1"), ("z", "")] {
            expected += Array(("\r\n" + head(name) + value).utf8)
        }
        expected += Array("\r\n\(Self.line)--\r\n".utf8)
        #expect(try readAll(source) == expected)
    }

    @Test("AF-073 nested parameters are named without escaping, before the other parts")
    func nested() throws {
        let request = try multipart(["a": ["b": 1], "l": [2, 3]]) { form throws(SessionError) in
            try form.append("x", name: "block")
        }
        let names = try text(request).split(separator: "\r\n").filter { $0.hasPrefix("Content-Disposition") }
        #expect(
            names
                == ["a[b]", "l[]", "l[]", "block"].map { "Content-Disposition: form-data; name=\"\($0)\"" })
    }

    @Test("AF-074 without parameters and parts the request is an empty form, for JSON one without body")
    func empty() throws {
        let form = try multipart([:])
        #expect(form.bodyData == Data())
        #expect(form.headerFields[.contentType] == "application/x-www-form-urlencoded")
        let json = try multipart(serializer: JSONRequestSerializer())
        #expect(json.body == nil && json.headerFields[.contentType] == nil)
    }

    @Test("the form's type takes the place of any other, for every serializer")
    func type() throws {
        var base = HTTPRequestSerializer()
        try base.setValue("text/custom", forHeader: "Content-Type")
        for serializer in [base, JSONRequestSerializer(base: base)] as [any RequestSerializer] {
            let request = try multipart(["a": 1], serializer: serializer)
            #expect(
                request.headerFields[values: .contentType].map { $0.prefix(19) } == ["multipart/form-data"])
        }
    }

    @Test("GET and HEAD have no multipart body, DELETE may", arguments: ["GET", "head", "DELETE"])
    func methods(_ method: String) throws {
        let make = {
            try HTTPRequestSerializer().makeMultipartRequest(method, "http://example.com") {
                form throws(SessionError) in
                try form.append("v", name: "k")
            }
        }
        if method == "DELETE" {
            #expect(try make().body?.length != nil)
        } else {
            #expect(sessionError { _ = try make() }?.domain == .requestSerialization)
        }
    }

    @Test("AF-061 text that the chosen encoding lacks is an error")
    func textEncoding() throws {
        var form = MultipartFormData(boundary: Self.boundary, textEncoding: .isoLatin1)
        try form.append("ü", name: "ä")
        let bytes = try readAll(form.makeBody())
        #expect(bytes.contains(0xFC) && bytes.contains(0xE4) && !bytes.contains(0xC3))
        for action in [{ try form.append("試", name: "a") }, { try form.append("a", name: "試") }] {
            let error = sessionError(action)
            #expect(error?.code == .cannotDecodeContentData && error?.domain == .requestSerialization)
        }
        let request = try SessionRequest("http://example.com", method: .post)
        let error = sessionError {
            _ = try HTTPRequestSerializer().serialize(request, parameters: ["k": "試"], form: form)
        }
        #expect(error?.code == .cannotDecodeContentData)
        #expect(try readAll(form.makeBody()) == bytes)
    }

    @Test("AF-086 names cannot end their quotation or line")
    func injection() throws {
        let request = try multipart { form throws(SessionError) in
            try form.append(
                Data(), name: "a\"b", fileName: "x\r\nEvil: 1", mimeType: "t/t; a=\"b\"\r\nEvil: 2")
        }
        let lines = try text(request).split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(
            lines == [
                Substring(Self.line),
                "Content-Disposition: form-data; name=\"a%22b\"; filename=\"x%0D%0AEvil: 1\"",
                "Content-Type: t/t; a=\"b\"%0D%0AEvil: 2", "", "", Substring(Self.line + "--"), "",
            ])
    }

    @Test("AF-088 a part with its own header fields has no others")
    func ownFields() throws {
        let name = try #require(HTTPField.Name("X-A"))
        let request = try multipart { form throws(SessionError) in
            try form.append(.data(Data("body".utf8)), headerFields: [name: "1"])
        }
        #expect(try text(request) == "\(Self.line)\r\nX-A: 1\r\n\r\nbody\r\n\(Self.line)--\r\n")
    }

    @Test("a boundary is Boundary+ and 16 digits, another one each time")
    func boundaries() {
        #expect(MultipartBoundary(0xAB).description == "Boundary+00000000000000AB")
        let boundaries = Set((0..<100).map { _ in MultipartBoundary().description })
        #expect(boundaries.count == 100)
        #expect(
            boundaries.allSatisfy { $0.utf8.count == 25 && $0.uppercased() == "BOUNDARY" + $0.dropFirst(8) })
    }

    @Test("adding to a copy does not touch the original")
    func copies() throws {
        var form = MultipartFormData(boundary: Self.boundary)
        #expect(form.isEmpty)
        try form.append("1", name: "a")
        var copy = form
        try copy.append("2", name: "b")
        let length = form.length
        #expect(copy.length != length && form.makeBody().length == length)
    }
}
