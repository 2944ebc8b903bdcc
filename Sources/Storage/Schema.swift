// SPDX-License-Identifier: Apache-2.0

/// How the tables of a kind of database look, and how older ones become so.
package struct Schema: Sendable {
    /// What tells this kind of database from others (`PRAGMA application_id`); any number but 0.
    package let applicationID: Int32
    /// The steps from nothing to the newest version, each a list of SQL statements.
    ///
    /// `PRAGMA user_version` counts those that were taken, so steps are added at the end and never changed.
    package let steps: [String]

    package init(applicationID: Int32, steps: [String]) {
        self.applicationID = applicationID
        self.steps = steps
    }
}

extension Database {
    /// Takes the steps that are missing, each in a transaction of its own with its number.
    ///
    /// - Throws: ``StorageError/Kind/unknownSchema`` where the file belongs to something else, or to a newer version.
    package func migrate(to schema: Schema) throws(StorageError) {
        while try step(towards: schema) {}
    }

    /// Looks whether this program knows the file's version, without changing anything: an older one may lack what is asked for, and says so.
    ///
    /// - Throws: ``StorageError/Kind/unknownSchema`` where not.
    package func check(_ schema: Schema) throws(StorageError) { _ = try isAt(schema) }

    private func step(towards schema: Schema) throws(StorageError) -> Bool {
        // Without the lock first: mostly nothing is to be done.
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
