// SPDX-License-Identifier: Apache-2.0

import Storage

extension Schema {
    /// The tables of an outbox.
    ///
    /// What is sent lies apart from what lists show, so that a list of 100,000 entries reads no contents. A
    /// lane has a row while something waits in it, with what has to be known of its oldest entry to choose
    /// the next. Times are milliseconds since 1970. States: 0 waiting, 1 dead.
    static let outbox = Schema(
        applicationID: 0x5EAC_0B01,
        steps: [
            """
            CREATE TABLE entries (
                id INTEGER PRIMARY KEY AUTOINCREMENT, state INTEGER NOT NULL DEFAULT 0, lane TEXT NOT NULL,
                priority INTEGER NOT NULL, method TEXT NOT NULL, url TEXT NOT NULL, host TEXT NOT NULL,
                condition INTEGER NOT NULL, key TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
                created INTEGER NOT NULL, expires INTEGER, attempts INTEGER NOT NULL DEFAULT 0,
                next INTEGER NOT NULL DEFAULT 0, failure TEXT, reason TEXT, status INTEGER) STRICT;
            CREATE INDEX waiting ON entries (lane, id) WHERE state = 0;
            CREATE INDEX expiring ON entries (expires) WHERE expires IS NOT NULL AND state = 0;
            CREATE INDEX dead ON entries (id) WHERE state = 1;
            CREATE TABLE contents (
                id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE, header TEXT NOT NULL,
                secrets TEXT NOT NULL, body BLOB, file TEXT) STRICT;
            CREATE INDEX files ON contents (file) WHERE file IS NOT NULL;
            CREATE TABLE replies (
                id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE, status INTEGER NOT NULL,
                header TEXT NOT NULL, body BLOB NOT NULL) STRICT;
            CREATE TABLE lanes (
                name TEXT PRIMARY KEY, head INTEGER NOT NULL, priority INTEGER NOT NULL,
                condition INTEGER NOT NULL, host TEXT NOT NULL, next INTEGER NOT NULL) STRICT, WITHOUT ROWID;
            CREATE INDEX ready ON lanes (condition, priority DESC, head);
            CREATE INDEX due ON lanes (next);
            CREATE TABLE results (
                id INTEGER PRIMARY KEY, outcome TEXT NOT NULL, status INTEGER, at INTEGER NOT NULL) STRICT;
            CREATE TABLE totals (
                one INTEGER PRIMARY KEY CHECK (one = 1), waiting INTEGER NOT NULL, dead INTEGER NOT NULL,
                bytes INTEGER NOT NULL, paused INTEGER NOT NULL) STRICT;
            INSERT INTO totals VALUES (1, 0, 0, 0, 0)
            """,
            // How often a server has refused the secrets of an entry.
            "ALTER TABLE entries ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0",
            // The limits of who delivers, for those who add without a configuration of their own.
            """
            CREATE TABLE limits (
                one INTEGER PRIMARY KEY CHECK (one = 1), entries INTEGER NOT NULL, bytes INTEGER NOT NULL,
                body INTEGER NOT NULL, policy TEXT NOT NULL) STRICT
            """,
            // Which start of the machine the entries from `first` on were taken after, and when that was by
            // the clock that has dated them.
            """
            CREATE TABLE clock (
                one INTEGER PRIMARY KEY CHECK (one = 1), boot TEXT NOT NULL, start INTEGER NOT NULL,
                first INTEGER NOT NULL) STRICT
            """,
            // Where an entry goes, as scheme, host and port (filled in by who delivers); limits of its own;
            // how many tries were sent whole and got no answer in time. What is known of origins that refuse,
            // and of requests without TLS (`http`).
            """
            ALTER TABLE entries ADD COLUMN origin TEXT NOT NULL DEFAULT '';
            ALTER TABLE entries ADD COLUMN timeout INTEGER;
            ALTER TABLE entries ADD COLUMN tries INTEGER;
            ALTER TABLE entries ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 0;
            CREATE TABLE holds (
                origin TEXT PRIMARY KEY, suspects TEXT NOT NULL, last INTEGER NOT NULL, since INTEGER NOT NULL,
                until INTEGER NOT NULL, trials INTEGER NOT NULL, spent INTEGER NOT NULL, reason TEXT NOT NULL) STRICT
            """,
        ])
}
