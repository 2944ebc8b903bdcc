// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import TestSupport
import Testing

struct RequestQueryTests {
    private func query(_ parameters: ParameterValue, _ change: (inout QueryStringOptions) -> Void = { _ in })
        throws
        -> String
    {
        var options = QueryStringOptions()
        change(&options)
        return try QueryStringEncoder(options: options).encode(parameters)
    }

    @Test("AF-001 reserved characters are escaped, all but / and ?")
    func reserved() throws {
        #expect(
            PercentEscaping.escape(":#[]@!$&'()*+,;=?/")
                == "%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D?/")
        #expect(
            try query(["key": " :#[]@!$&'()*+,;=/?"])
                == "key=%20%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D/?")
    }

    @Test("AF-002 empty text stays empty")
    func empty() { #expect(PercentEscaping.escape("") == "") }

    @Test("AF-004 a space is %20, never +")
    func space() { #expect(PercentEscaping.escape(" ") == "%20") }

    @Test("AF-005 what is escaped already is escaped again")
    func escapedTwice() { #expect(PercentEscaping.escape("%20%21%22") == "%2520%2521%2522") }

    @Test("AF-006 characters that no URL has are escaped")
    func illegal() {
        #expect(PercentEscaping.escape("|\\\"<>^`{}") == "%7C%5C%22%3C%3E%5E%60%7B%7D")
    }

    @Test("AF-008 emoji with skin tones are escaped byte by byte")
    func emoji() throws {
        let people = String(repeating: "\u{1F474}\u{1F3FF}\u{1F477}\u{1F3FB}\u{1F46E}\u{1F3FD}", count: 5)
        let request = try HTTPRequestSerializer().makeRequest(
            "GET", "http://test.com", parameters: ["test": .string("!" + people)])
        let escaped = String(
            repeating: "%F0%9F%91%B4%F0%9F%8F%BF%F0%9F%91%B7%F0%9F%8F%BB%F0%9F%91%AE%F0%9F%8F%BD", count: 5)
        #expect(request.url.absoluteString == "http://test.com?test=%21" + escaped)
    }

    @Test("AF-009 any text is escaped as its bytes are, and comes back")
    func anyText() {
        var generator = SystemRandomNumberGenerator()
        let literal = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?".utf8)
        for _ in 0..<300 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...500, using: &generator) {
                let limit: UInt32 = Bool.random(using: &generator) ? 0x80 : 0x11_0000
                if let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &generator)) {
                    scalars.append(scalar)
                }
            }
            let text = String(scalars)
            let escaped = PercentEscaping.escape(text)
            let byByte = text.utf8.map { byte -> String in
                let digits = String(byte, radix: 16, uppercase: true)
                return literal.contains(byte)
                    ? String(Unicode.Scalar(byte)) : "%\(digits.utf8.count < 2 ? "0" : "")\(digits)"
            }
            #expect(escaped == byByte.joined())
            #expect(decoded(escaped) == Array(text.utf8))
        }
    }

    private func decoded(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    @Test(
        "AF-010 AF-012 AF-013 AF-014 AF-016 AF-017 AF-020 AF-021 AF-022 AF-024 AF-025 AF-026 parameters are flattened, sorted and escaped",
        arguments: [
            ([:], ""),
            (["b": 1, "a": 2, "B": 3, "1": 4], "1=4&B=3&a=2&b=1"),
            (["k": [1, 2, 3]], "k%5B%5D=1&k%5B%5D=2&k%5B%5D=3"),
            (["k": ["b": "2", "a": "1"]], "k%5Ba%5D=1&k%5Bb%5D=2"),
            (["a": ["b": ["c": 1]]], "a%5Bb%5D%5Bc%5D=1"),
            (["a": [[1, 2], [3]]], "a%5B%5D%5B%5D=1&a%5B%5D%5B%5D=2&a%5B%5D%5B%5D=3"),
            (["a": [1, nil, 2]], "a%5B%5D=1&a%5B%5D&a%5B%5D=2"),
            (["a": [], "b": [:], "c": 1], "c=1"),
            (["t": true, "f": false], "f=0&t=1"),
            (["k": ""], "k="),
            (["a b": "c d", "ü": "ß"], "a%20b=c%20d&%C3%BC=%C3%9F"),
            (["u": "http://h/p?x=1&y=2"], "u=http%3A//h/p?x%3D1%26y%3D2"),
            (["a": ["b": [1, ["c": nil]], "a": 1]], "a%5Ba%5D=1&a%5Bb%5D%5B%5D=1&a%5Bb%5D%5B%5D%5Bc%5D"),
        ] as [(ParameterValue, String)])
    func flattening(_ parameters: ParameterValue, _ expected: String) throws {
        #expect(try query(parameters) == expected)
    }

    @Test("AF-018 a set repeats its name without brackets, in the order of the texts")
    func sets() throws {
        #expect(try query(["k": .set(["b", "a"])]) == "k=a&k=b")
        #expect(try query(["k": .set(["~", "é", " ", [1], 3])]) == "k=%20&k=3&k=~&k=%C3%A9&k%5B%5D=1")
    }

    @Test("numbers are written as a reader expects them")
    func numbers() throws {
        #expect(try query(["n": 3.0]) == "n=3")
        #expect(try query(["n": 1.5]) == "n=1.5")
        #expect(try query(["n": -0.25]) == "n=-0.25")
        #expect(try query(["n": .unsigned(.max)]) == "n=18446744073709551615")
        #expect(try query(["n": .integer(.min)]) == "n=-9223372036854775808")
        #expect(try query(["n": 1e300]) == "n=1e%2B300")
        let error = sessionError { _ = try query(["a": ["n": .number(.nan)]]) }
        #expect(error?.code == .cannotDecodeContentData)
        #expect(error?.domain == .requestSerialization)
        #expect(error?.message.contains("a[n]") == true)
    }

    @Test(
        "parameters without names are refused",
        arguments: [[1], "text", 1, .set([1]), nil] as [ParameterValue])
    func nameless(_ parameters: ParameterValue) {
        let error = sessionError { _ = try query(parameters) }
        #expect(error?.code == .cannotDecodeContentData)
        #expect(error?.domain == .requestSerialization)
    }

    @Test("nesting without end is refused before the stack is full")
    func depth() throws {
        var value: ParameterValue = 1
        for _ in 0..<500 { value = ["a": value] }
        #expect(try query(value).utf8.last == UInt8(ascii: "1"))
        for _ in 0..<600 { value = [value] }
        #expect(sessionError { _ = try query(["a": value]) }?.code == .cannotDecodeContentData)
    }

    @Test("the work is linear in what is written")
    func linear() throws {
        let text = String(repeating: "ü ", count: 200_000)
        let many = ParameterValue.array(Array(repeating: "x", count: 100_000))
        let written = try query(["text": .string(text), "many": many])
        #expect(written.utf8.count == 5 + 200_000 * 9 + 100_000 * "many%5B%5D=x&".utf8.count)
    }
}
