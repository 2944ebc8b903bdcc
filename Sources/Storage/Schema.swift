// SPDX-License-Identifier: Apache-2.0

/// The tables of a kind of database, and the steps that upgrade older ones.
package struct Schema: Sendable {
    /// Identifies this kind of database (`PRAGMA application_id`); any number but 0.
    package let applicationID: Int32
    /// The steps from nothing to the newest version, each a list of SQL statements.
    ///
    /// `PRAGMA user_version` counts the completed steps, so steps are appended and never changed.
    package let steps: [String]

    package init(applicationID: Int32, steps: [String]) {
        self.applicationID = applicationID
        self.steps = steps
    }
}

extension Database {
    /// Runs the missing steps, each in a transaction with its number; throws like ``check(_:)``.
    package func migrate(to schema: Schema) throws(StorageError) { while try step(towards: schema) {} }

    /// Checks, without changing anything, that this program knows the file's version; statements fail later
    /// on an older version that lacks their columns.
    ///
    /// - Throws: ``StorageError/Kind/unknownSchema`` if not.
    package func check(_ schema: Schema) throws(StorageError) { _ = try isAt(schema) }

    private func step(towards schema: Schema) throws(StorageError) -> Bool {
        // Without the lock first: mostly there is nothing to do.
        if try isAt(schema) { return false }
        return try transaction { () throws(StorageError) in
            // Another process may have been faster.
            if try isAt(schema) { return false }
            let version = Int(try integer("PRAGMA user_version"))
            try execute(schema.steps[version])
            try execute(
                "PRAGMA application_id = \(schema.applicationID); PRAGMA user_version = \(version + 1)")
            return true
        }
    }

    private func isAt(_ schema: Schema) throws(StorageError) -> Bool {
        let version = Int(try integer("PRAGMA user_version"))
        let application = try integer("PRAGMA application_id")
        guard application == Int64(schema.applicationID) || application == 0 && version == 0 else {
            throw StorageError(
                .unknownSchema, "the file belongs to another program (application_id \(application))",
                path: path)
        }
        guard version >= 0, version <= schema.steps.count else {
            throw StorageError(
                .unknownSchema,
                "the file has version \(version), and this program knows \(schema.steps.count)",
                path: path)
        }
        return version == schema.steps.count
    }
}
