// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// SQLite's connection, closed when the last statement of it has gone.
final class DatabaseHandle {
    let pointer: OpaquePointer
    let path: String

    init(opening path: String, writes: Bool) throws(StorageError) {
        guard csqlite_load() == CSQLITE_LOADED else {
            throw StorageError(
                .missingLibrary, "SQLite cannot be used: \(String(cString: csqlite_load_message()))",
                path: path)
        }
        var pointer: OpaquePointer?
        let uri = writes ? nil : DatabaseFile.frozen(path)
        let code = csqlite_open(uri ?? path, writes, uri != nil, &pointer)
        guard let pointer else { throw StorageError(.outOfMemory, "no memory for a connection", path: path) }
        self.pointer = pointer
        self.path = path
        guard code == CSQLITE_OK else { throw error(code) }
    }

    deinit { csqlite_close(pointer) }

    /// What the last call's failure means.
    func error(_ code: Int32) -> StorageError {
        let extended = csqlite_extended_code(pointer)
        // The connection's code belongs to the call only where both say the same.
        guard extended & 0xFF == code & 0xFF else {
            return StorageError(code: code, String(cString: csqlite_code_text(code)), path: path)
        }
        return StorageError(code: extended, String(cString: csqlite_message(pointer)), path: path)
    }
}
