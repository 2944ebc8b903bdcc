// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManagerExtras
import TestSupport
import Testing

struct PropertyListResponseTests {
    private struct Thing: Codable, Equatable {
        var name = "ü"
        var count = -5
        var ratio = 0.5
        var isOn = true
        var raw = Data([0, 255])
        var when = Date(timeIntervalSinceReferenceDate: 86_400 * 59)
        var list = [1, 300, 70_000, 5_000_000_000]
        var members = ["a": ["b"]]
    }

    private let expected: PropertyListValue = .dictionary([
        "name": .string("ü"), "count": .integer(-5), "ratio": .real(0.5), "isOn": .bool(true),
        "raw": .data(Data([0, 255])), "when": .date(Date(timeIntervalSinceReferenceDate: 86_400 * 59)),
        "list": .array([.integer(1), .integer(300), .integer(70_000), .integer(5_000_000_000)]),
        "members": .dictionary(["a": .array([.string("b")])]),
    ])

    private func encoded(_ format: PropertyListDecoder.PropertyListFormat) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        return try encoder.encode(Thing())
    }

    @Test("AF-116 an XML and a binary property list are read")
    func formats() throws {
        let response = try head(type: "application/x-plist")
        for format in [PropertyListDecoder.PropertyListFormat.xml, .binary] {
            let result = PropertyListResponseSerializer().serialize(try encoded(format), response: response)
            #expect(result.error == nil)
            #expect(result.value == expected)
        }
    }

    @Test("AF-116 JSON is no property list; no content is no object and no error")
    func otherContent() throws {
        let serializer = PropertyListResponseSerializer()
        let result = serializer.serialize(
            Data(text: #"{"a":1}"#), response: try head(type: "application/x-plist"))
        #expect(result.value == nil)
        #expect(result.error?.code == .cannotParseResponse)
        for data in [nil, Data()] {
            let empty = serializer.serialize(data, response: try head(204))
            #expect(empty.value == nil)
            #expect(empty.error == nil)
        }
    }

    @Test(
        "dates, in and out of leap years",
        arguments: [
            ("2001-01-01T00:00:00Z", 0.0), ("2000-02-29T12:00:00Z", -26_481_600),
            ("1970-01-01T00:00:00Z", -978_307_200),
            ("2026-11-21T05:28:35Z", 816_931_715), ("2100-03-01T00:00:00Z", 3_129_235_200),
            ("0001-03-01T00:00:00Z", -63_108_806_400),
        ])
    func dates(_ text: String, _ seconds: Double) throws {
        let value = try PropertyListValue(parsing: Data(text: "<plist><date>\(text)</date></plist>"))
        #expect(value == .date(Date(timeIntervalSinceReferenceDate: seconds)))
    }

    @Test(
        "XML: what its scalars mean",
        arguments: [
            ("<string>a&lt;&#x41;&#66;<![CDATA[<&]]><!--c--></string>", PropertyListValue.string("a<AB<&")),
            ("<string/>", .string("")),
            ("<integer> -7 </integer>", .integer(-7)), ("<integer>0x1F</integer>", .integer(31)),
            ("<integer>18446744073709551615</integer>", .unsigned(.max)), ("<real>1e3</real>", .real(1000)),
            ("<true></true>", .bool(true)),
            ("<data>\n AP8= \n</data>", .data(Data([0, 255]))), ("<array/>", .array([])),
            ("<dict></dict>", .dictionary([:])),
            ("<dict><key>a</key><true/><key>a</key><false/></dict>", .dictionary(["a": .bool(false)])),
        ])
    func xml(_ element: String, _ value: PropertyListValue) throws {
        let document = "<?xml version='1.0'?><!DOCTYPE plist><plist version=\"1.0\">\n\(element)\n</plist>\n"
        #expect(try PropertyListValue(parsing: Data(text: document)) == value)
        #expect(try PropertyListValue(parsing: Data(text: element)) == value)
    }

    @Test("XML in other encodings")
    func encodings() throws {
        let latin =
            Data("<?xml version='1.0' encoding='ISO-8859-1'?><plist><string>".utf8) + [0xFC]
            + Data(text: "</string></plist>")
        #expect(try PropertyListValue(parsing: latin) == .string("ü"))
        var wide = Data([0xFE, 0xFF])
        for unit in "<plist><string>ü</string></plist>".utf16 {
            wide += [UInt8(unit >> 8), UInt8(unit & 0xFF)]
        }
        #expect(try PropertyListValue(parsing: wide) == .string("ü"))
    }

    @Test(
        "the text format of NeXTSTEP is refused", arguments: ["{ a = b; }", "()", "<00>", "\"a\" = \"b\";"])
    func openStep(_ text: String) {
        #expect(throws: PropertyListParseError.self) { _ = try PropertyListValue(parsing: Data(text: text)) }
        #expect(throws: PropertyListParseError.self) {
            try PropertyListContentDecoder().decode([String: String].self, from: Data(text: text))
        }
    }

    @Test(
        "what is no property list is refused",
        arguments: [
            "<plist></plist>", "<plist/>", "<plist><dict><key>a</key></dict></plist>",
            "<plist><dict><true/></dict></plist>", "<dict",
            "<plist><array></dict></plist>", "<plist><integer>x</integer></plist>",
            "<plist><integer>--1</integer></plist>",
            "<plist><string>&x;</string></plist>", "<plist><string>&#xD800;</string></plist>",
            "<plist><true/>", "<plist><true/></plist>x",
            "<plist><date>2026-13-01T00:00:00Z</date></plist>", "<plist><data>=</data></plist>",
            "<plist><thing/></plist>",
            "<!DOCTYPE plist [<!ENTITY x 'y'>]><plist><string>&x;</string></plist>", "<string a=\"", "<!-- ",
            "<array><key>a</key></array>",
            "<dict><key>a</key><key>b</key></dict>", "<integer>18446744073709551616</integer>",
            "<0>", "a b", "", " ", "bplist", "bplist00",
        ])
    func malformed(_ text: String) {
        #expect(throws: PropertyListParseError.self) { _ = try PropertyListValue(parsing: Data(text: text)) }
    }

    @Test("512 levels are read, 513 and a million are refused")
    func depth() throws {
        func nested(_ levels: Int) -> Data {
            Data(
                text: String(repeating: "<array>", count: levels)
                    + String(repeating: "</array>", count: levels))
        }
        #expect(throws: Never.self) { try PropertyListValue(parsing: nested(512)) }
        for levels in [513, 1_000_000] {
            #expect(throws: PropertyListParseError.self) {
                _ = try PropertyListValue(parsing: nested(levels))
            }
        }
        #expect(throws: PropertyListParseError.self) {
            try PropertyListContentDecoder().decode([String].self, from: nested(1_000_000))
        }
    }

    @Test("a serializer of one format refuses the others, and is stored and read with its options")
    func options() throws {
        let serializer = PropertyListResponseSerializer(formats: [.binary])
        let response = try head(type: "application/x-plist")
        #expect(
            serializer.serialize(try encoded(.xml), response: response).error?.code == .cannotParseResponse)
        #expect(serializer.serialize(try encoded(.binary), response: response).value == expected)
        let stored = try JSONEncoder().encode(serializer)
        #expect(try JSONDecoder().decode(PropertyListResponseSerializer.self, from: stored) == serializer)
    }

    @Test("values are reached by name and position")
    func access() throws {
        #expect(expected["members"]?["a"]?[0]?.string == "b")
        #expect(expected["list"]?[3]?.int == 5_000_000_000)
        #expect(expected["list"]?[4] == nil)
        #expect(expected["ratio"]?.double == 0.5)
        #expect(expected["isOn"]?.bool == true)
        #expect(expected["raw"]?.data?.count == 2)
        #expect(expected["when"]?.date != nil)
    }
}
