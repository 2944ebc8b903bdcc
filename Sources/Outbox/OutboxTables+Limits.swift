// SPDX-License-Identifier: Apache-2.0

import Storage

// The limits that hold for everybody who has none of his own.
extension OutboxTables {
    /// Those that are kept, with the rest as in `base`; nil where nobody has kept any.
    func limits(base: OutboxLimits) throws(StorageError) -> OutboxLimits? {
        try database.first("SELECT entries, bytes, body, policy FROM limits") { row in
            var limits = base
            limits.maximumEntries = row.int(0)
            limits.maximumBytes = row.int64(1)
            limits.maximumBodySize = row.int64(2)
            limits.policy = OutboxLimits.Policy(rawValue: row.text(3)) ?? base.policy
            return limits
        }
    }

    /// Keeps them, for others and for later.
    func store(_ limits: OutboxLimits) throws(StorageError) {
        try database.run(
            "INSERT OR REPLACE INTO limits VALUES (1, ?, ?, ?, ?)",
            [
                SQLValue(limits.maximumEntries), .integer(limits.maximumBytes),
                .integer(limits.maximumBodySize), .text(limits.policy.rawValue),
            ])
    }
}
