// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import reach

/// The lines of an `--input-file`.
struct GetListTests {
    private func read(_ text: String, piece: Int = 7) throws -> [GetList.Entry] {
        var list = GetList()
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try list.read(Array(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
        try list.end()
        return list.entries
    }

    @Test(
        "API-552 a list has a URL a line, with a name, a checksum and mirrors; comments and blanks are nothing"
    )
    func entries() throws {
        let sum = String(repeating: "0a", count: 32)
        let entries = try read(
            "\u{FEFF}# images\r\n\r\n  http://a.example/1#part \r\n\t# two\n"
                + "https://a.example/2?x=1\thttps://b.example/2  out=second.bin sha256=\(sum)\nhttp://c.example/3"
        )
        #expect(
            entries.map { "\($0.line) \($0.url) \($0.name ?? "-") \($0.checksum?.count ?? 0)" } == [
                "3 http://a.example/1#part - 0", "5 https://a.example/2?x=1 second.bin 32",
                "6 http://c.example/3 - 0",
            ])
        #expect(entries.map { $0.mirrors.map(\.absoluteString) } == [[], ["https://b.example/2"], []])
        #expect(try read("").isEmpty && read("# nothing").isEmpty)
    }

    @Test(
        "API-553 a line that cannot be used is named by its number",
        arguments: [
            ("http://a.example/1\nftp://a.example/2\n", 2, "ftp://a.example/2: this is no http or https URL"),
            ("\n\nhttp://a.example/1 sha256=12", 3, "give the 64 hexadecimal digits"),
            ("http://a.example/1 out=", 1, "out= needs the name of a file"),
            ("http://a.example/1 out=-", 1, "out= needs the name of a file"),
            ("out=name", 1, "the line names no URL"),
            ("http://a.example/1 http://b.example/1", 1, "need its checksum"),
            ("http://a.example/1\nhttp://a.example/\u{1}", 2, "the line is no text"),
            (String(repeating: "a", count: 20_000), 1, "more than 16384 bytes"),
        ] as [(String, Int, String)])
    func faults(_ text: String, _ line: Int, _ sentence: String) throws {
        let fault = #expect(throws: GetList.Fault.self) { try read(text, piece: 1_000) }
        #expect(
            fault?.line == line && fault?.sentence.contains(sentence) == true, "\(String(describing: fault))")
    }
}
