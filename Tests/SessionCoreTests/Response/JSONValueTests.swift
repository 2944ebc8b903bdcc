// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

struct JSONValueTests {
    @Test(
        "numbers keep their value",
        arguments: [
            ("0", JSONValue.integer(0)), ("-0", .integer(0)), ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .unsigned(1 << 63)),
            ("18446744073709551615", .unsigned(.max)),
            ("18446744073709551616", .bigNumber("18446744073709551616")),
            ("-9223372036854775809", .bigNumber("-9223372036854775809")), ("1.0", .number(1)),
            ("-0.0", .number(-0.0)),
            ("1e2", .number(100)), ("0.1", .number(0.1)), ("123.456e-7", .number(123.456e-7)),
            ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)), ("1e400", .bigNumber("1e400")),
            ("5e-324", .number(.leastNonzeroMagnitude)), ("1e-400", .number(0)),
            ("9007199254740993.0", .number(9007199254740992)),
            ("0.30000000000000004", .number(0.30000000000000004)),
            ("1e99999999999999999999", .bigNumber("1e99999999999999999999")),
        ])
    func numbers(_ text: String, _ value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test("a number of a million digits is kept, quickly")
    func hugeNumber() throws {
        let digits = String(repeating: "9", count: 1_000_000)
        #expect(try JSONValue(parsing: digits) == .bigNumber(digits))
        #expect(try JSONValue(parsing: "0." + digits) == .number(1))
        #expect(JSONValue.bigNumber(digits).double == .infinity)
    }

    @Test(
        "strings",
        arguments: [
            (#""""#, ""), (#""a\"\\\/\b\f\n\r\t""#, "a\"\\/\u{8}\u{c}\n\r\t"),
            (#""\u00fc\uD83D\uDE00""#, "ü😀"),
            ("\"ü😀\u{7f}\"", "ü😀\u{7f}"), (#""\u0000""#, "\0"), (#""\\u0041""#, "\\u0041"),
        ])
    func strings(_ text: String, _ value: String) throws {
        #expect(try JSONValue(parsing: text) == .string(value))
    }

    @Test(
        "what is no JSON is refused with its place",
        arguments: [
            ("", 1, 1), ("[1,]", 1, 4), ("[1 2]", 1, 4), ("{\"a\" 1}", 1, 6), ("{\"a\":1,}", 1, 8),
            ("{a:1}", 1, 2),
            ("[1]x", 1, 4), ("[1]\n[2]", 2, 1), ("01", 1, 1), ("-", 1, 2), ("1.", 1, 3), (".5", 1, 1),
            ("1e", 1, 3),
            ("+1", 1, 1), ("nul", 1, 1), ("nulll", 1, 5), ("NaN", 1, 1), ("\"a", 1, 1), ("\"a\\", 1, 1),
            ("\"a\tb\"", 1, 3), ("\"\\x\"", 1, 2), ("\"\\u12\"", 1, 2), ("\"\\uD83D\"", 1, 2),
            ("\"\\uDE00\"", 1, 2), ("\"\\uDE00\\uDE00\"", 1, 2),
            ("\"\\uD83D\\u0041\"", 1, 2), ("[\"ü\",\n  x]", 2, 3), ("[}", 1, 2), ("{]", 1, 2), ("]", 1, 1),
            ("[1}", 1, 3), ("// c\n1", 1, 1), ("[\0]", 1, 2), ("\u{feff}", 1, 2), ("[[", 1, 3), ("'a'", 1, 1),
        ])
    func malformed(_ text: String, _ line: Int, _ column: Int) {
        #expect {
            try JSONValue(parsing: text)
        } throws: { error in
            guard let error = error as? JSONParseError else { return false }
            return error.line == line && error.column == column
        }
    }

    @Test(
        "bytes that are no UTF-8 are refused where they stand",
        arguments: [
            ([0x22, 0x61, 0xFF, 0x22], 2), ([0x22, 0xED, 0xA0, 0x80, 0x22], 1),
            ([0x22, 0xC0, 0x80, 0x22], 1),
            ([0x22, 0xE2, 0x82, 0x22], 1), ([0xFF, 0xFE, 0x5B, 0x00], 0),
        ] as [([UInt8], Int)])
    func invalidBytes(_ bytes: [UInt8], _ offset: Int) {
        #expect {
            try JSONValue(parsing: Data(bytes))
        } throws: {
            ($0 as? JSONParseError)?.offset == offset
        }
    }

    @Test("512 levels are read, 513 and a million are refused", arguments: ["[", "{\"a\":"])
    func depth(_ opening: String) throws {
        let closing = opening == "[" ? "]" : "}"
        func nested(_ levels: Int) -> String {
            String(repeating: opening, count: levels) + (opening == "[" ? "" : "1")
                + String(repeating: closing, count: levels)
        }
        let deepest = try JSONValue(parsing: nested(512))
        #expect(try JSONValue(parsing: deepest.data()) == deepest)
        #expect(throws: JSONParseError.self) { _ = try JSONValue(parsing: nested(513)) }
        #expect(throws: JSONParseError.self) { _ = try JSONValue(parsing: nested(1_000_000)) }
        #expect(throws: SessionError.self) { try JSONValue.array([deepest]).data() }
    }

    @Test("of two members with one name the last counts; a byte order mark is skipped")
    func duplicates() throws {
        #expect(try JSONValue(parsing: "\u{feff} {\"a\":1,\"b\":0,\"a\":[2]} ") == ["a": [2], "b": 0])
    }

    @Test("values are reached by name and position, and changed by name")
    func access() throws {
        var value: JSONValue = ["a": [1, 2.0, -3, "x", true, .null], "n": 18_446_744_073_709_551]
        #expect(value["a"]?[0]?.int == 1)
        #expect(value["a"]?[1]?.int == 2)
        #expect(value["a"]?[2]?.uint64 == nil)
        #expect(value["a"]?[3]?.string == "x")
        #expect(value["a"]?[4]?.bool == true)
        #expect(value["a"]?[5]?.isNull == true)
        #expect(value["a"]?[6] == nil && value["a"]?[-1] == nil && value["b"] == nil && value[0] == nil)
        #expect(
            JSONValue.unsigned(.max).int == nil
                && JSONValue.unsigned(.max).double == 0x1p64)
        #expect(JSONValue.number(1e300).int64 == nil && JSONValue.number(.nan).int == nil)
        value["a"] = nil
        value["c"] = "d"
        #expect(value == ["n": 18_446_744_073_709_551, "c": "d"])
    }

    @Test("documents are written sorted, and are read as the same again")
    func written() throws {
        let value: JSONValue = [
            "b": [1, 2.5, .null, .unsigned(.max), .bigNumber("1e400"), [:], []],
            "a": "\u{1}\u{1F}\"\\/\n\u{2028}ü",
        ]
        let text = String(decoding: try value.data(), as: UTF8.self)
        #expect(
            text
                == #"{"a":"\u0001\u001f\"\\/\n"# + "\u{2028}ü\""
                + #","b":[1,2.5,null,18446744073709551615,1e400,{},[]]}"#)
        #expect(try JSONValue(parsing: text) == value)
        #expect(try JSONValue(parsing: value.data(pretty: true)) == value)
        #expect(
            String(decoding: try (["a": [1]] as JSONValue).data(pretty: true), as: UTF8.self)
                == "{\n  \"a\": [\n    1\n  ]\n}")
        #expect(throws: SessionError.self) { try JSONValue.number(.nan).data() }
        #expect("\(JSONValue.array([.number(.infinity)]))" == "[null]")
    }

    @Test("coders of other formats carry a document")
    func coded() throws {
        let value: JSONValue = ["a": [1, 2.5, .null, true, "x", .unsigned(.max)]]
        let stored = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: stored) == value)
    }
}
