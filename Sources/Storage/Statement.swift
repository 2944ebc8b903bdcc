// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// A compiled SQL statement of a database.
///
/// Belongs to the thread of its database. Columns are counted from 0, parameters from 1, as SQLite does.
package final class Statement {
    private let handle: OpaquePointer
    /// Retains the connection, which stays open while it has statements.
    private let database: DatabaseHandle

    init(_ sql: String, of database: DatabaseHandle, keeps: Bool) throws(StorageError) {
        var handle: OpaquePointer?
        let code = csqlite_prepare(database.pointer, sql, -1, keeps, &handle, nil)
        guard code == CSQLITE_OK, let handle else {
            if code == CSQLITE_OK {
                throw StorageError(.other, "an empty statement was prepared", path: database.path)
            }
            throw database.error(code)
        }
        self.handle = handle
        self.database = database
    }

    deinit { csqlite_finalize(handle) }

    /// Binds the parameters in order, and clears the former values.
    package func bind(_ values: [SQLValue]) throws(StorageError) {
        csqlite_reset(handle)
        csqlite_clear(handle)
        guard values.count == Int(csqlite_parameter_count(handle)) else {
            throw StorageError(
                .other,
                "a statement with \(csqlite_parameter_count(handle)) parameters was given \(values.count)",
                path: database.path)
        }
        for (index, value) in values.enumerated() {
            let code = bind(value, at: Int32(index + 1))
            guard code == CSQLITE_OK else { throw database.error(code) }
        }
    }

    private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
        switch value {
        case .null: return csqlite_bind_null(handle, index)
        case .integer(let value): return csqlite_bind_int(handle, index, value)
        case .real(let value): return csqlite_bind_double(handle, index, value)
        case .text(var value):
            return value.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) {
                    // An empty string may have no address, and a null pointer would be NULL.
                    $0.isEmpty
                        ? csqlite_bind_text(handle, index, "", 0)
                        : csqlite_bind_text(handle, index, $0.baseAddress, $0.count)
                }
            }
        case .bytes(let value):
            return value.withUnsafeBytes { csqlite_bind_blob(handle, index, $0.baseAddress, $0.count) }
        }
    }

    /// Advances to the next row; false after the last, when the statement can be bound again.
    package func step() throws(StorageError) -> Bool {
        let code = csqlite_step(handle)
        switch Int(code) {
        case CSQLITE_ROW: return true
        case CSQLITE_DONE:
            csqlite_reset(handle)
            return false
        default:
            // Read before the reset, which may set another message.
            let error = database.error(code)
            csqlite_reset(handle)
            throw error
        }
    }

    /// Drops the unread rows: a statement on a row holds the database state that it began with.
    package func reset() { csqlite_reset(handle) }

    // MARK: The row

    package func isNull(_ column: Int) -> Bool { csqlite_column_type(handle, Int32(column)) == CSQLITE_NULL }
    /// The integer of a column; 0 for NULL.
    package func int64(_ column: Int) -> Int64 { csqlite_column_int(handle, Int32(column)) }
    package func int(_ column: Int) -> Int { Int(clamping: int64(column)) }
    package func bool(_ column: Int) -> Bool { int64(column) != 0 }
    package func double(_ column: Int) -> Double { csqlite_column_double(handle, Int32(column)) }
    package func optionalInt64(_ column: Int) -> Int64? { isNull(column) ? nil : int64(column) }

    /// The text of a column, repaired if it is not UTF-8; empty for NULL.
    package func text(_ column: Int) -> String {
        guard let start = csqlite_column_text(handle, Int32(column)) else { return "" }
        let count = Int(csqlite_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
    package func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }

    /// The bytes of a column; empty for NULL.
    package func bytes(_ column: Int) -> [UInt8] {
        guard let start = csqlite_column_blob(handle, Int32(column)) else { return [] }
        return Array(
            UnsafeRawBufferPointer(start: start, count: Int(csqlite_column_bytes(handle, Int32(column)))))
    }
    package func optionalBytes(_ column: Int) -> [UInt8]? { isNull(column) ? nil : bytes(column) }
}

extension Statement {
    /// The values of the row with their columns' names.
    package var row: [(name: String, value: SQLValue)] {
        (0..<Int(csqlite_column_count(handle))).map { column in
            let value: SQLValue =
                switch Int(csqlite_column_type(handle, Int32(column))) {
                case CSQLITE_INTEGER: .integer(int64(column))
                case CSQLITE_FLOAT: .real(double(column))
                case CSQLITE_TEXT: .text(text(column))
                case CSQLITE_BLOB: .bytes(bytes(column))
                default: .null
                }
            return (String(cString: csqlite_column_name(handle, Int32(column))), value)
        }
    }
}

/// A value of a statement's parameter or column.
package enum SQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])

    package init(_ value: Int64?) { self = value.map { .integer($0) } ?? .null }
    package init(_ value: Int?) { self = value.map { .integer(Int64($0)) } ?? .null }
    package init(_ value: Double?) { self = value.map { .real($0) } ?? .null }
    package init(_ value: String?) { self = value.map { .text($0) } ?? .null }
    package init(_ value: [UInt8]?) { self = value.map { .bytes($0) } ?? .null }
    package init(_ value: Bool) { self = .integer(value ? 1 : 0) }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
    package init(nilLiteral: ()) { self = .null }
}
