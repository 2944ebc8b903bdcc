// SPDX-License-Identifier: Apache-2.0

import Storage
import TestSupport

@testable import Outbox

/// The tables of an outbox in a folder of its own, at given instants.
struct TablesLab {
    private let folder: ScratchFolder
    let database: Database
    let bodies: BodyFolder
    var tables: OutboxTables { OutboxTables(database) }

    init() throws {
        folder = try ScratchFolder("reach-tables")
        let paths = OutboxPaths(folder: folder("outbox"))
        try paths.make()
        bodies = BodyFolder(paths: paths)
        database = try Database(paths.database)
        try database.migrate(to: .outbox)
    }

    /// Stores a request at an instant, in milliseconds since 1970.
    func insert(
        _ request: OutboxRequest, at now: Int64, limits: OutboxLimits = OutboxLimits()
    ) throws -> OutboxTables.Insertion {
        let entry = try PreparedEntry(request, bodies: bodies, largest: .max)
        return try tables.insert([entry], limits: limits, bodies: bodies, now: now).get()
    }
}
