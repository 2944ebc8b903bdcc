// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import TestSupport
import Testing

struct RequestParameterTests {
    private enum Colour: String, Encodable { case red }

    private struct Everything: Encodable {
        var flag = true
        var small: UInt8 = 7
        var big = UInt64.max
        var count: UInt = 5
        var tenth: Float = 0.1
        var precise = 0.1
        var name = "n"
        var nothing: Int?
        var colour = Colour.red
        var date = Date(timeIntervalSince1970: 1)
        var data = Data([1, 2])
        var url = URL(string: "http://h/p")
        var list = [1, 2]
        var names = ["a": [1.5]]
        var value: ParameterValue = .set(["x"])
        var decimal = Decimal(5)
        var empty = Empty()
    }

    private struct Empty: Encodable {}

    @Test("an Encodable value becomes what it consists of; dates, data and URLs stay themselves")
    func encodable() throws {
        let expected: ParameterValue = [
            "flag": true, "small": 7, "count": 5, "big": .unsigned(.max), "tenth": 0.1, "precise": 0.1,
            "name": "n",
            "colour": "red", "date": .date(Date(timeIntervalSince1970: 1)), "data": .data(Data([1, 2])),
            "url": "http://h/p", "list": [1, 2], "names": ["a": [1.5]], "value": .set(["x"]), "decimal": 5,
            "empty": [:],
        ]
        #expect(try ParameterValue(encoding: Everything()) == expected)
        #expect(try ParameterValue(encoding: [1: "a"]) == ["1": "a"])
        #expect(try ParameterValue(encoding: Optional<Int>.none) == .null)
        #expect(try ParameterValue(encoding: 5) == 5)
    }

    private struct Awkward: Encodable {
        enum Key: CodingKey { case inner, list, again }

        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: Key.self)
            var inner = outer.nestedContainer(keyedBy: Key.self, forKey: .inner)
            try inner.encodeNil(forKey: .again)
            var list = outer.nestedUnkeyedContainer(forKey: .list)
            try list.encode(1)
            try list.encodeNil()
            var deeper = list.nestedContainer(keyedBy: Key.self)
            try deeper.encode(2, forKey: .again)
            var deepest = list.nestedUnkeyedContainer()
            try deepest.encode("x")
            var single = list.superEncoder().singleValueContainer()
            try single.encode(true)
            var second = encoder.container(keyedBy: Key.self)
            try second.encode(Int64.min, forKey: .again)
            var third = outer.superEncoder(forKey: .inner).container(keyedBy: Key.self)
            try third.encode(9, forKey: .list)
            var parent = outer.superEncoder().unkeyedContainer()
            try parent.encode(parent.count)
        }
    }

    @Test("nested containers and several containers of one place come together")
    func nested() throws {
        #expect(
            try ParameterValue(encoding: Awkward()) == [
                "inner": ["again": nil, "list": 9], "list": [1, nil, ["again": 2], ["x"], true],
                "again": .integer(.min), "super": [0],
            ])
    }

    @Test("what an Encodable value throws lies underneath")
    func failing() {
        struct Failing: Encodable {
            struct Own: Error {}
            func encode(to encoder: any Encoder) throws { throw Own() }
        }
        let error = sessionError { _ = try ParameterValue(encoding: [Failing()]) }
        #expect(error?.code == .cannotDecodeContentData && error?.domain == .requestSerialization)
        #expect(error?.underlying is Failing.Own)
    }

    @Test("untyped values become what they are")
    func untyped() throws {
        final class Thing {}
        let nothing: Int? = nil
        let missing: Thing? = nil
        let some: Any = Int?.some(4) as Any
        let mixed: [String: Any] = [
            "int": 1, "small": Int8(-1), "big": UInt64.max, "double": 2.5, "float": Float(0.1), "bool": true,
            "text": "t", "part": "xyz".dropFirst(), "nothing": nothing as Any, "nobody": missing as Any,
            "some": some,
            "date": Date(timeIntervalSince1970: 1), "data": Data([1]),
            "list": [1, "a", nothing as Any] as [Any],
            "set": Set([1]), "object": ["a": 2],
            "value": ParameterValue.set([1]),
            "encodable": Empty(), "any": ["k": 1] as [AnyHashable: Any],
            "url": URL(string: "http://h/") as Any,
        ]
        #expect(
            try ParameterValue(untyped: mixed) == [
                "int": 1, "small": -1, "big": .unsigned(.max), "double": 2.5, "float": 0.1, "bool": true,
                "text": "t",
                "part": "yz", "nothing": nil, "nobody": nil, "some": 4,
                "date": .date(Date(timeIntervalSince1970: 1)),
                "data": .data(Data([1])), "list": [1, "a", nil], "set": .set([1]), "object": ["a": 2],
                "value": .set([1]), "encodable": [:], "any": ["k": 1], "url": "http://h/",
            ])
    }

    @Test("what cannot be expressed is refused with its place")
    func inexpressible() {
        final class Thing {}
        let values: [(Any, String)] = [
            (["a": [Thing()]], "parameters.a[0]"), ([1: 1], "no text: \"1\""), (Int128.max, "64 bits"),
        ]
        for (value, words) in values {
            let error = sessionError { _ = try ParameterValue(untyped: value) }
            #expect(error?.code == .cannotDecodeContentData && error?.domain == .requestSerialization)
            #expect(error?.message.contains(words) == true)
        }
    }

    @Test("literals make values; of a name that occurs twice the last counts")
    func literals() {
        let name = "x"
        let value: ParameterValue = [
            "a": nil, "b": true, "c": -1, "d": 0.5, "e": "\(name)y", "f": [1], "a": 2,
        ]
        #expect(
            value
                == .dictionary([
                    "a": .integer(2), "b": .bool(true), "c": .integer(-1), "d": .number(0.5),
                    "e": .string("xy"),
                    "f": .array([.integer(1)]),
                ]))
    }
}
