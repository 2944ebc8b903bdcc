// SPDX-License-Identifier: Apache-2.0

/// A value that trees are made of: JSON and property lists.
package protocol TreeValue {
    /// Values in order.
    init(elements: [Self])
    /// Values by name.
    init(members: [String: Self])
}

/// Puts a tree together from the inside out, without recursion: a hostile document cannot exhaust the stack.
package struct TreeAssembly<Value: TreeValue> {
    /// How deep arrays and dictionaries may be nested.
    package static var maximumDepth: Int { 512 }

    private struct Frame {
        var isDictionary: Bool
        var firstValue: Int
        var firstKey: Int
    }

    package init() {}

    private var frames: [Frame] = []
    private var values: [Value] = []
    private var keys: [String] = []

    /// Whether the innermost open container is a dictionary; nil where none is open.
    package var isInDictionary: Bool? { frames.last?.isDictionary }
    /// Whether a dictionary is open and waits for a value for its last key.
    package var lacksValue: Bool {
        guard let frame = frames.last, frame.isDictionary else { return false }
        return keys.count - frame.firstKey > values.count - frame.firstValue
    }

    /// Opens an array or a dictionary; false where that would be too deep.
    package mutating func open(dictionary: Bool) -> Bool {
        guard frames.count < Self.maximumDepth else { return false }
        frames.append(Frame(isDictionary: dictionary, firstValue: values.count, firstKey: keys.count))
        return true
    }

    /// Adds the key of the next value to the open dictionary.
    package mutating func add(key: String) { keys.append(key) }

    /// Adds a complete value to the open container.
    package mutating func add(_ value: Value) { values.append(value) }

    /// Closes the innermost container: the value that it is.
    ///
    /// Of two members with the same name the last one wins.
    package mutating func close() -> Value? {
        guard let frame = frames.popLast() else { return nil }
        // Read by index: a slice would share the buffer and make the removal copy all of it.
        let count = values.count - frame.firstValue
        let result: Value
        if frame.isDictionary {
            var members = [String: Value](minimumCapacity: count)
            for offset in 0..<count {
                members[keys[frame.firstKey + offset]] = values[frame.firstValue + offset]
            }
            keys.removeLast(keys.count - frame.firstKey)
            result = Value(members: members)
        } else {
            result = Value(elements: Array(values[frame.firstValue...]))
        }
        values.removeLast(count)
        return result
    }
}

/// A value of a format without a schema: one of these, where it contains no other values.
protocol ScalarValue {
    static var null: Self { get }
    static func bool(_ value: Bool) -> Self
    static func integer(_ value: Int64) -> Self
    static func unsigned(_ value: UInt64) -> Self
    static func number(_ value: Double) -> Self
    static func string(_ value: String) -> Self
}

extension ScalarValue {
    /// The value that a decoder has; nil where it is none of these.
    static func scalar(in container: any SingleValueDecodingContainer) -> Self? {
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int64.self) { return .integer(value) }
        if let value = try? container.decode(UInt64.self) { return .unsigned(value) }
        if let value = try? container.decode(Double.self) { return .number(value) }
        return (try? container.decode(String.self)).map { .string($0) }
    }
}
