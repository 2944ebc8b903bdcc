// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Glibc

/// SQLite's connection, closed when its last statement has been released.
final class DatabaseHandle {
    let pointer: OpaquePointer
    let path: String

    init(opening path: String, writes: Bool) throws(StorageError) {
        let library = csqlite_load()
        guard library == CSQLITE_LOADED else {
            let reason = "SQLite cannot be used: \(String(cString: csqlite_load_message()))"
            switch library {
            case CSQLITE_NO_RESOURCES: throw StorageError(.outOfResources, reason, path: path)
            case CSQLITE_NO_MEMORY:
                throw StorageError(
                    .outOfMemory, reason, path: path,
                    advice: "free memory, or allow more of it (ulimit -v, MemoryMax=)")
            default: throw StorageError(.missingLibrary, reason, path: path)
            }
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

    /// The meaning of the last call's failure.
    func error(_ code: Int32) -> StorageError {
        let extended = csqlite_extended_code(pointer)
        // The extended code belongs to this call only if its low byte is the call's code.
        guard extended & 0xFF == code & 0xFF else {
            return StorageError(code: code, String(cString: csqlite_code_text(code)), path: path)
        }
        let message = String(cString: csqlite_message(pointer))
        let cause = csqlite_system_errno(pointer)
        if Int(extended & 0xFF) == CSQLITE_CANTOPEN, cause == EMFILE || cause == ENFILE {
            return StorageError(.outOfResources, code: extended, message, path: path)
        }
        return StorageError(code: extended, message, path: path)
    }
}
