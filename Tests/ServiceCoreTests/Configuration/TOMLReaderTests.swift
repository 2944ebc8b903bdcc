// SPDX-License-Identifier: Apache-2.0

import ServiceCore
import Testing

@Suite("TOML")
struct TOMLReaderTests {
    private func entries(_ text: String) throws -> [TOMLEntry] {
        try TOMLReader.entries(in: Array(text.utf8))
    }

    private func value(_ text: String) throws -> TOMLValue? { try entries("key = \(text)").first?.value }

    @Test("tables, dotted keys, comments and lines")
    func structure() throws {
        let text = """
            # a comment
            a = 1 # another
            b.c = true\r

            [ d . "e f" ]
            'g' = [ "x", # inside
                "y",
            ]
            [d]
            h = "i # no comment"
            """
        #expect(
            try entries(text) == [
                TOMLEntry(key: "a", line: 2, value: .integer(1)),
                TOMLEntry(key: "b.c", line: 3, value: .boolean(true)),
                TOMLEntry(key: "d.\"e f\".g", line: 6, value: .array([.string("x"), .string("y")])),
                TOMLEntry(key: "d.h", line: 10, value: .string("i # no comment")),
            ])
        #expect(try entries("").isEmpty)
        #expect(try entries("\n# only this").isEmpty)
    }

    @Test(
        "values",
        arguments: [
            ("0", .integer(0)), ("-17", .integer(-17)), ("+1_000", .integer(1000)),
            ("0xFF_00", .integer(0xFF00)),
            ("0o17", .integer(15)), ("0b101", .integer(5)), ("9223372036854775807", .integer(.max)),
            ("1.5", .float(1.5)), ("-0.25", .float(-0.25)), ("1e3", .float(1000)),
            ("6.02E+2_3", .float(6.02e23)),
            ("1_0.2_5", .float(10.25)), ("true", .boolean(true)), ("false", .boolean(false)),
            ("\"\"", .string("")), ("'C:\\new'", .string("C:\\new")),
            ("\"\\t\\u00e9\\U0001F6F0\\\\\\\"\"", .string("\té🛰\\\"")), ("[]", .array([])),
            ("[[1], [2.5, 'x']]", .array([.array([.integer(1)]), .array([.float(2.5), .string("x")])])),
        ] as [(String, TOMLValue)])
    func values(text: String, expected: TOMLValue) throws { #expect(try value(text) == expected) }

    @Test(
        "what is no value",
        arguments: [
            "01", "1_", "_1", "1__0", "1.", ".5", "1._5", "1e", "1e+", "0x", "0xG", "--1", "+-1", "nan",
            "inf", "1e999",
            "9223372036854775808", "yes", "1979-05-27", "{ a = 1 }", "\"\"\"x\"\"\"", "'''x'''", "\"a", "'a",
            "\"\\q\"",
            "\"\\ud800\"", "\"\\u12\"", "[1 2]", "[1", "", "# nothing", "1 2", "\"a\u{01}\"",
        ])
    func refused(text: String) { #expect(throws: TOMLError.self) { try value(text) } }

    @Test(
        "each problem names its line",
        arguments: [
            ("a = 1\na = 2", 2, "was set in line 1"), ("[a]\n[b]\n[a]", 3, "was opened in line 1"),
            ("a = 1\n[a]", 2, "has a value in line 1"), ("a.b = 1\na = 2", 2, "is a table"),
            ("a = 1\na.b = 2", 2, "has a value in line 1"), ("[[a]]", 1, "lists of tables"),
            ("\n\n[a", 3, "ends with ]"), ("a 1", 1, "comes = and a value"),
            ("= 1", 1, "a key is expected here, not '='"),
            ("x = 'a' y", 1, "a new line is expected here, not 'y'"), ("[a.]", 1, "a key is expected"),
        ])
    func problems(text: String, line: Int, words: String) throws {
        let error = try #require(throws: TOMLError.self) { try entries(text) }
        #expect(error.line == line)
        #expect(error.problem.contains(words), "\(error.problem)")
    }

    @Test("bytes that are no text are named by their line")
    func notUTF8() throws {
        let bytes: [UInt8] = Array("a = 1\nb = '".utf8) + [0xFF] + Array("'\n".utf8)
        let error = try #require(throws: TOMLError.self) { try TOMLReader.entries(in: bytes) }
        #expect(error.line == 2)
        #expect(throws: TOMLError.self) {
            try TOMLReader.entries(in: [UInt8](repeating: UInt8(ascii: "#"), count: TOMLReader.sizeLimit + 1))
        }
    }

    @Test("random bytes never do more than fail")
    func randomBytes() {
        var generator = SystemRandomNumberGenerator()
        let letters = Array("[]{}\"'\\=.,#\n\r\t aé1_-+e:0x".utf8)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0..<60, using: &generator)).map { _ in
                letters.randomElement(using: &generator) ?? 0
            }
            _ = try? TOMLReader.entries(in: bytes)
        }
        _ = try? entries("a = " + String(repeating: "[", count: 100_000))
    }

    @Test("FLD-116 a byte order mark before the first line is passed over, and nowhere else")
    func byteOrderMark() throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let found = try TOMLReader.entries(in: mark + Array("a = 1".utf8))
        #expect(found.map(\.key) == ["a"] && found.map(\.line) == [1])
        #expect(throws: TOMLError.self) { try TOMLReader.entries(in: mark + mark + Array("a = 1".utf8)) }
    }
}
