// SPDX-License-Identifier: Apache-2.0

/// Reads tables, dotted and quoted keys, one-line strings, numbers, booleans, lists and comments of TOML 1.0.
///
/// Everything else is an error. Written here because the messages need the line of each key. The package
/// TOMLKit reports lines of syntax errors only, and its C++ throws exceptions for them, which end a device
/// program that is linked without unwind tables (packaging/device/README.md).
package struct TOMLReader {
    /// The largest file in bytes.
    package static let sizeLimit = 1 << 20

    private var scanner: TOMLScanner
    private var table: [String] = []
    private var entries: [TOMLEntry] = []
    /// All names so far: whether each is a table, and whether the table had its header.
    private var names: [[String]: Name] = [:]

    private enum Name {
        case value(line: Int)
        /// A table that a dotted key or a longer header implies.
        case implied
        case headed(line: Int)
    }

    /// The entries in the order of the file.
    package static func entries(in bytes: [UInt8]) throws(TOMLError) -> [TOMLEntry] {
        guard bytes.count <= sizeLimit else {
            throw TOMLError(line: 1, problem: "the file is larger than 1 MiB; this is no configuration")
        }
        // Some editors write a byte order mark.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
        var reader = TOMLReader(scanner: try TOMLScanner(text))
        try reader.read()
        return reader.entries
    }

    private init(scanner: TOMLScanner) { self.scanner = scanner }

    private mutating func read() throws(TOMLError) {
        while true {
            scanner.skipBlank()
            guard let byte = scanner.peek else { return }
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "#"): break
            case UInt8(ascii: "["): try header()
            default: try keyAndValue()
            }
            try scanner.endLine()
        }
    }

    private mutating func header() throws(TOMLError) {
        let line = scanner.line
        scanner.skip()
        guard scanner.peek != UInt8(ascii: "[") else {
            throw scanner.error("lists of tables ([[…]]) are not known here; write [table]")
        }
        let path = try keyPath()
        guard scanner.consume("]") else { throw scanner.error("a table's name ends with ]") }
        try imply(path.dropLast(), line)
        switch names[path] {
        case .headed(let first):
            throw TOMLError(line: line, problem: "[\(Self.dotted(path))] was opened in line \(first) already")
        case .value(let first):
            throw TOMLError(
                line: line, problem: "\(Self.dotted(path)) has a value in line \(first) and can be no table")
        case .implied, nil: names[path] = .headed(line: line)
        }
        table = path
    }

    private mutating func keyAndValue() throws(TOMLError) {
        let line = scanner.line
        let path = table + (try keyPath())
        guard scanner.consume("=") else {
            throw scanner.error("after the key \(Self.dotted(path)) comes = and a value")
        }
        scanner.skipBlank()
        let value = try scanner.value()
        try imply(path.dropLast(), line)
        switch names[path] {
        case .value(let first), .headed(let first):
            throw TOMLError(line: line, problem: "\(Self.dotted(path)) was set in line \(first) already")
        case .implied:
            throw TOMLError(line: line, problem: "\(Self.dotted(path)) is a table and can have no value")
        case nil: names[path] = .value(line: line)
        }
        entries.append(TOMLEntry(key: Self.dotted(path), line: line, value: value))
    }

    /// Records the tables that a name implies.
    private mutating func imply(_ path: ArraySlice<String>, _ line: Int) throws(TOMLError) {
        for count in path.indices.map({ $0 + 1 }) {
            let part = Array(path[..<count])
            switch names[part] {
            case .value(let first):
                throw TOMLError(
                    line: line,
                    problem: "\(Self.dotted(part)) has a value in line \(first) and can be no table")
            case nil: names[part] = .implied
            case .implied, .headed: break
            }
        }
    }

    private mutating func keyPath() throws(TOMLError) -> [String] {
        var path: [String] = []
        repeat {
            scanner.skipBlank()
            path.append(try scanner.key())
            scanner.skipBlank()
            guard path.count <= 8 else { throw scanner.error("the key has more than 8 parts") }
        } while scanner.consume(".")
        return path
    }

    /// The path as text, with quotation marks around parts that are more than a word.
    private static func dotted(_ path: [String]) -> String {
        path.map { part in
            !part.isEmpty && part.utf8.allSatisfy(TOMLScanner.isBare) ? part : "\"\(part)\""
        }.joined(separator: ".")
    }
}
