// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Makes parameters out of `Encodable` values, for forms, JSON and property lists alike.
///
/// Dates, data and URLs are written in the serializer's style; nil values that `encodeIfPresent` leaves out,
/// as compilers do, have no parameter. A Swift set becomes an array, as `Encodable` has no sets.
public struct ParameterEncoder: Sendable {
    /// An encoder.
    public init() {}

    /// The parameters that a value consists of.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` with the value's own error underneath.
    public func encode(_ value: some Encodable) throws(SessionError) -> ParameterValue {
        let node = ParameterNode()
        do {
            try node.fill(value, at: [])
        } catch {
            throw SessionError(
                .cannotDecodeContentData, "a value of type \(type(of: value)) cannot be encoded",
                domain: .requestSerialization, underlying: error)
        }
        return node.value
    }
}

extension ParameterValue {
    /// The parameters that an `Encodable` value consists of; see ``ParameterEncoder``.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` with the value's own error underneath.
    public init(encoding value: some Encodable) throws(SessionError) {
        self = try ParameterEncoder().encode(value)
    }
}

/// A value while it is encoded: containers at the same path share it.
final class ParameterNode {
    private enum Content {
        case nothing
        case value(ParameterValue)
        case list([ParameterNode])
        case names([String: ParameterNode])
    }

    private var content = Content.nothing

    /// What has been encoded; an object without any name where nothing was.
    var value: ParameterValue {
        switch content {
        case .nothing: .dictionary([:])
        case .value(let value): value
        case .list(let nodes): .array(nodes.map(\.value))
        case .names(let nodes): .dictionary(nodes.mapValues(\.value))
        }
    }

    var count: Int {
        if case .list(let nodes) = content { nodes.count } else { 0 }
    }

    func set(_ value: ParameterValue) { content = .value(value) }

    func becomeList() {
        if case .list = content { return }
        content = .list([])
    }

    func becomeNames() {
        if case .names = content { return }
        content = .names([:])
    }

    /// The node of a name, made when it is first asked for.
    func child(_ name: String) -> ParameterNode {
        guard case .names(var nodes) = content else { return ParameterNode() }
        if let node = nodes[name] { return node }
        content = .nothing
        let node = ParameterNode()
        nodes[name] = node
        content = .names(nodes)
        return node
    }

    /// A further element.
    func append() -> ParameterNode {
        guard case .list(var nodes) = content else { return ParameterNode() }
        content = .nothing
        let node = ParameterNode()
        nodes.append(node)
        content = .list(nodes)
        return node
    }

    func fill(_ value: some Encodable, at path: [any CodingKey]) throws {
        switch value {
        case let value as ParameterValue: set(value)
        case let value as Date: set(.date(value))
        case let value as Data: set(.data(value))
        case let value as URL: set(.string(value.absoluteString))
        case let value as Decimal:
            let text = value.description
            set(Int64(text).map { .integer($0) } ?? .number(Double(text) ?? .nan))
        default: try value.encode(to: ParameterNodeEncoder(node: self, codingPath: path))
        }
    }
}
