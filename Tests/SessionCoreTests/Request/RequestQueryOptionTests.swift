// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import TestSupport
import Testing

struct RequestQueryOptionTests {
    private func query(_ parameters: ParameterValue, _ change: (inout QueryStringEncoder) -> Void) throws
        -> String
    {
        var encoder = QueryStringEncoder()
        change(&encoder)
        return try encoder.encode(parameters)
    }

    @Test("arrays are named as the server wants them")
    func arrays() throws {
        let people: ParameterValue = ["f": [["a": 1, "b": 2], ["a": 3]]]
        #expect(try query(people) { $0.options.arrays = .repeated } == "f%5Ba%5D=1&f%5Bb%5D=2&f%5Ba%5D=3")
        #expect(
            try query(people) { $0.options.arrays = .indexed }
                == "f%5B0%5D%5Ba%5D=1&f%5B0%5D%5Bb%5D=2&f%5B1%5D%5Ba%5D=3")
        #expect(
            try query(["k": ["x": [7, 8]]]) { $0.arrayKey = { name, index in "\(name)_\(index)" } }
                == "k%5Bx%5D_0=7&k%5Bx%5D_1=8")
        #expect(
            try query(["k": ["x": [7]], "l": 1]) {
                $0.options.nesting = .dots
                $0.options.arrays = .indexed
            } == "k.x%5B0%5D=7&l=1")
    }

    @Test("nulls, truth values and spaces are written in the chosen style")
    func scalars() throws {
        let parameters: ParameterValue = ["n": nil, "s": "a b", "t": true]
        #expect(try query(parameters) { $0.options.nulls = .dropKey } == "s=a%20b&t=1")
        #expect(try query(parameters) { $0.options.nulls = .dropValue } == "n=&s=a%20b&t=1")
        #expect(try query(parameters) { $0.options.nulls = .literal } == "n=null&s=a%20b&t=1")
        #expect(try query(parameters) { $0.options.bools = .literal } == "n&s=a%20b&t=true")
        #expect(try query(["a b": "c +"]) { $0.options.spaces = .plus } == "a+b=c+%2B")
        #expect(try query(["a": nil, "b": 1]) { $0.options.nulls = .dropKey } == "b=1")
    }

    @Test("bytes are written in the chosen style")
    func data() throws {
        let parameters: ParameterValue = ["d": .data(Data([0xFB, 0xFF, 0x01, 0x0A]))]
        #expect(try query(parameters) { _ in } == "d=%2B/8BCg%3D%3D")
        #expect(try query(parameters) { $0.options.data = .base64URL } == "d=-_8BCg")
        #expect(try query(parameters) { $0.options.data = .hexadecimal } == "d=fbff010a")
        #expect(try query(parameters) { $0.dataText = { "\($0.count) bytes" } } == "d=4%20bytes")
    }

    @Test(
        "dates are written in the chosen style",
        arguments: [
            (0, "1970-01-01T00:00:00Z", "0", "0"),
            (1_767_323_045.25, "2026-01-02T03:04:05.250Z", "1767323045.25", "1767323045250"),
            (-1, "1969-12-31T23:59:59Z", "-1", "-1000"),
            (951_782_400, "2000-02-29T00:00:00Z", "951782400", "951782400000"),
            (4_107_542_399.9996, "2100-03-01T00:00:00Z", "4107542399.9996", "4107542400000"),
            (-62_167_219_200, "0000-01-01T00:00:00Z", "-62167219200", "-62167219200000"),
        ])
    func dates(_ seconds: Double, _ iso: String, _ inSeconds: String, _ inMilliseconds: String) throws {
        let parameters: ParameterValue = ["d": .date(Date(timeIntervalSince1970: seconds))]
        let colon = iso.split(separator: ":").joined(separator: "%3A")
        #expect(try query(parameters) { _ in } == "d=" + colon)
        #expect(try query(parameters) { $0.options.dates = .secondsSince1970 } == "d=" + inSeconds)
        #expect(try query(parameters) { $0.options.dates = .millisecondsSince1970 } == "d=" + inMilliseconds)
        #expect(try query(parameters) { $0.dateText = { _ in "now" } } == "d=now")
    }

    @Test("a date that has no text is refused", arguments: [.infinity, .nan, 1e15, -1e15] as [Double])
    func badDates(_ seconds: Double) {
        let error = sessionError {
            _ = try query(["d": .date(Date(timeIntervalSince1970: seconds))]) { _ in }
        }
        #expect(error?.code == .cannotDecodeContentData)
    }

    @Test(
        "names are changed in the chosen style, each component",
        arguments: [
            (.unchanged, "myURLProperty%5BoneTwo%5D=1"), (.snakeCase, "my_url_property%5Bone_two%5D=1"),
            (.kebabCase, "my-url-property%5Bone-two%5D=1"), (.capitalized, "MyURLProperty%5BOneTwo%5D=1"),
            (.uppercased, "MYURLPROPERTY%5BONETWO%5D=1"), (.lowercased, "myurlproperty%5Bonetwo%5D=1"),
        ] as [(KeyStyle, String)])
    func keys(_ style: KeyStyle, _ expected: String) throws {
        #expect(try query(["myURLProperty": ["oneTwo": 1]]) { $0.options.keys = style } == expected)
        #expect(try query(["a": ["b": 1]]) { $0.keyTransform = { $0 + "!" } } == "a%21%5Bb%21%5D=1")
    }

    @Test("options that have been written down come back, and what is missing has its default")
    func archive() throws {
        var encoder = QueryStringEncoder()
        encoder.options.arrays = .indexed
        encoder.options.nesting = .dots
        encoder.options.bools = .literal
        encoder.options.data = .hexadecimal
        encoder.options.dates = .millisecondsSince1970
        encoder.options.keys = .kebabCase
        encoder.options.nulls = .literal
        encoder.options.spaces = .plus
        encoder.options.sortsKeys = false
        let copy = try JSONDecoder().decode(QueryStringEncoder.self, from: try JSONEncoder().encode(encoder))
        #expect(copy.options == encoder.options)
        let older = try JSONDecoder().decode(
            QueryStringEncoder.self, from: Data(#"{"arrays":"repeated"}"#.utf8))
        #expect(older.options.arrays == .repeated && older.options.sortsKeys)
    }
}
