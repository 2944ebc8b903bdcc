// SPDX-License-Identifier: Apache-2.0

/// Takes the pairs that parameters are flattened to, one after the other.
protocol ParameterSink {
    /// A name, not escaped, and the scalar that it has.
    mutating func append(name: borrowing [UInt8], value: ParameterValue) throws(SessionError)
}

/// Walks through nested parameters and names each scalar: `a[b][]`.
///
/// The name is one buffer that grows and shrinks with the depth: the work is linear in what is written.
struct ParameterFlattener<Sink: ParameterSink> {
    private let encoder: QueryStringEncoder
    private var name: [UInt8] = []
    var sink: Sink

    /// Deeper than anything sensible, and well within a thread's stack.
    private static var depthLimit: Int { 512 }

    init(_ encoder: QueryStringEncoder, into sink: Sink) {
        self.encoder = encoder
        self.sink = sink
    }

    mutating func flatten(_ parameters: ParameterValue) throws(SessionError) {
        guard case .dictionary(let values) = parameters else {
            throw SessionError(
                .cannotDecodeContentData, "The `parameters` argument is no dictionary.",
                advice:
                    "only named values can be written into a query or form: pass a dictionary or set a query block",
                domain: .requestSerialization)
        }
        try flatten(values, depth: 0)
    }

    private mutating func flatten(_ values: Parameters, depth: Int) throws(SessionError) {
        guard encoder.options.sortsKeys, values.count > 1 else {
            for (key, value) in values { try enter(key, value, depth: depth) }
            return
        }
        for (key, value) in values.sorted(by: { $0.key < $1.key }) { try enter(key, value, depth: depth) }
    }

    private mutating func enter(_ key: String, _ value: ParameterValue, depth: Int) throws(SessionError) {
        let length = name.count
        defer { name.removeSubrange(length...) }
        let key = encoder.name(key)
        switch (depth, encoder.options.nesting) {
        case (0, _): name.append(contentsOf: key.utf8)
        case (_, .brackets):
            name.append(UInt8(ascii: "["))
            name.append(contentsOf: key.utf8)
            name.append(UInt8(ascii: "]"))
        case (_, .dots):
            name.append(UInt8(ascii: "."))
            name.append(contentsOf: key.utf8)
        }
        try flatten(value, depth: depth + 1)
    }

    private mutating func flatten(_ value: ParameterValue, depth: Int) throws(SessionError) {
        guard depth <= Self.depthLimit else {
            throw SessionError(
                .cannotDecodeContentData, "the parameters are nested deeper than \(Self.depthLimit) levels",
                domain: .requestSerialization)
        }
        switch value {
        case .dictionary(let values): try flatten(values, depth: depth)
        case .array(let values):
            for (index, value) in values.enumerated() { try enter(index, value, depth: depth) }
        case .set(let values):
            for value in sorted(values) { try flatten(value, depth: depth + 1) }
        default: try sink.append(name: name, value: value)
        }
    }

    private mutating func enter(_ index: Int, _ value: ParameterValue, depth: Int) throws(SessionError) {
        let length = name.count
        if let arrayKey = encoder.arrayKey {
            let outer = name
            name = Array(arrayKey(String(decoding: outer, as: UTF8.self), index).utf8)
            defer { name = outer }
            return try flatten(value, depth: depth + 1)
        }
        defer { name.removeSubrange(length...) }
        switch encoder.options.arrays {
        case .brackets: name.append(contentsOf: "[]".utf8)
        case .repeated: break
        case .indexed: name.append(contentsOf: "[\(index)]".utf8)
        }
        try flatten(value, depth: depth + 1)
    }

    /// Scalars by their text, then the rest as it came: a set has no order of its own.
    private func sorted(_ values: [ParameterValue]) -> [ParameterValue] {
        var scalars: [(text: String, value: ParameterValue)] = []
        var others: [ParameterValue] = []
        for value in values {
            if let text = encoder.text(value) { scalars.append((text, value)) } else { others.append(value) }
        }
        return scalars.sorted { $0.text < $1.text }.map(\.value) + others
    }
}
