// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import SessionCore
import Testing

struct SessionRequestTests {
    @Test(
        "an address that is no http or https URL is refused",
        arguments: [
            "http://exa mple", "", "ftp://host/", "http://", "//host/", "host", "http:///path",
        ])
    func badAddress(_ address: String) {
        #expect { try SessionRequest(address) } throws: { ($0 as? SessionError)?.code == .badURL }
    }

    @Test(
        "FLD-030 an address whose port or host cannot be is refused",
        arguments: [
            "http://h:0/", "http://h:65536/", "http://h:99999", "https://h:99999999999999999999999/x",
            "http://h:000/",
            "http://[::1]:65536/", "http://u:p@h:70000/", "http://[zz]/", "http://[127.0.0.1]/",
            "http://a%20b/",
            "http://a%00b/", "http://a%2fb/", "http://a%40b/", "http://[v1.x]/",
        ])
    func impossibleURL(_ address: String) {
        #expect { try SessionRequest(address) } throws: { ($0 as? SessionError)?.code == .badURL }
    }

    @Test(
        "FLD-030 an address whose port or host can be is taken",
        arguments: [
            "http://h:1/", "http://h:65535/", "http://h:/", "http://h:00080/", "http://h?x=:99999",
            "http://h#:99999",
            "http://u:99999@h/", "http://h/:99999", "http://[::1]/", "http://[fe80::1%25eth0]:8080/",
            "http://b%C3%BCcher.example/", "http://a_b/", "http://127.1/", "http://xn--bcher-kva.example./",
        ])
    func possibleURL(_ address: String) throws {
        _ = try SessionRequest(address)
    }

    @Test(
        "a header field cannot smuggle another one",
        arguments: [
            ("X", "a\r\nEvil: 1"), ("X", "a\nb"), ("X", "a\0b"), ("X\r\nEvil", "1"), ("a b", "1"), ("", "1"),
        ])
    func smuggling(_ name: String, _ value: String) throws {
        var request = try SessionRequest("http://host/")
        #expect { try request.setValue(value, forHeader: name) } throws: {
            ($0 as? SessionError)?.code == .invalidHeaderField
        }
        #expect(request.headerFields.isEmpty)
    }

    @Test("a header field is replaced whatever the case of its name, and removed by nil")
    func headerFields() throws {
        var request = try SessionRequest("https://host/path?x=1#part")
        try request.setValue("1", forHeader: "X-Thing")
        try request.setValue("2", forHeader: "x-thing")
        #expect(request.headerFields.map(\.value) == ["2"])
        try request.setValue(nil, forHeader: "X-THING")
        #expect(request.headerFields.isEmpty)
    }

    @Test("a response's fields are read from its header block, junk left out")
    func responseFields() throws {
        let block = Array(
            "Content-Type: Application/JSON; charset=utf-8\r\nno colon\r\n: no name\r\nX:  a \nx: b\r\n".utf8)
        let url = try SessionRequest("http://host/").url
        let response = SessionResponse(url: url, statusCode: 200, version: .http1_1, headerBlock: block)
        #expect(response.mimeType == "application/json")
        #expect(response.value(forHeader: "X") == "a, b")
        #expect(response.headerFields.count == 3)
        #expect(response.httpResponse?.status == .ok)
    }
}
