// SPDX-License-Identifier: Apache-2.0

struct ParameterNodeEncoder: Encoder {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeNames()
        return KeyedEncodingContainer(ParameterNames<Key>(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeList()
        return ParameterList(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ParameterScalar(node: node, codingPath: codingPath)
    }
}

/// The key of an element or of `super`.
struct ParameterKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}

private struct ParameterNames<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: ParameterNode
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) { node.child(key.stringValue).set(.null) }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
        try node.child(key.stringValue).fill(value, at: codingPath + [key])
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { encoder(ParameterKey(stringValue: "super")) }

    mutating func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    private func encoder(_ key: any CodingKey) -> ParameterNodeEncoder {
        ParameterNodeEncoder(node: node.child(key.stringValue), codingPath: codingPath + [key])
    }
}

private struct ParameterList: UnkeyedEncodingContainer {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    mutating func encodeNil() { node.append().set(.null) }

    mutating func encode(_ value: some Encodable) throws {
        let key = ParameterKey(intValue: count)
        try node.append().fill(value, at: codingPath + [key])
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }

    mutating func superEncoder() -> any Encoder { encoder() }

    private func encoder() -> ParameterNodeEncoder {
        let key = ParameterKey(intValue: count)
        return ParameterNodeEncoder(node: node.append(), codingPath: codingPath + [key])
    }
}

private struct ParameterScalar: SingleValueEncodingContainer {
    let node: ParameterNode
    let codingPath: [any CodingKey]

    mutating func encodeNil() { node.set(.null) }
    mutating func encode(_ value: Bool) { node.set(.bool(value)) }
    mutating func encode(_ value: String) { node.set(.string(value)) }
    mutating func encode(_ value: Double) { node.set(.number(value)) }
    mutating func encode(_ value: Float) { node.set(ParameterValue(value)) }
    mutating func encode(_ value: Int) { node.set(.integer(Int64(value))) }
    mutating func encode(_ value: Int8) { node.set(.integer(Int64(value))) }
    mutating func encode(_ value: Int16) { node.set(.integer(Int64(value))) }
    mutating func encode(_ value: Int32) { node.set(.integer(Int64(value))) }
    mutating func encode(_ value: Int64) { node.set(.integer(value)) }
    mutating func encode(_ value: UInt) { set(UInt64(value)) }
    mutating func encode(_ value: UInt8) { node.set(.integer(Int64(value))) }
    mutating func encode(_ value: UInt16) { node.set(.integer(Int64(value))) }
    mutating func encode(_ value: UInt32) { node.set(.integer(Int64(value))) }
    mutating func encode(_ value: UInt64) { set(value) }
    mutating func encode(_ value: some Encodable) throws { try node.fill(value, at: codingPath) }

    private func set(_ value: UInt64) {
        node.set(Int64(exactly: value).map { .integer($0) } ?? .unsigned(value))
    }
}
