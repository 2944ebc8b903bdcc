// SPDX-License-Identifier: Apache-2.0

import Storage

extension Schema {
    /// The tables of an outbox.
    ///
    /// Contents are in a table apart from the attributes that lists show, so a list of 100,000 entries reads
    /// no contents. A lane has a row while an entry waits in it, with the attributes of its oldest entry by
    /// which the next is chosen. Times are milliseconds since 1970. States: 0 waiting, 1 dead, 2 scheduled.
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
            // The delivering process's limits, for processes without a configuration of their own.
            """
            CREATE TABLE limits (
                one INTEGER PRIMARY KEY CHECK (one = 1), entries INTEGER NOT NULL, bytes INTEGER NOT NULL,
                body INTEGER NOT NULL, policy TEXT NOT NULL) STRICT
            """,
            // The boot during which the entries from `first` on were stored, and its time by their clock.
            """
            CREATE TABLE clock (
                one INTEGER PRIMARY KEY CHECK (one = 1), boot TEXT NOT NULL, start INTEGER NOT NULL,
                first INTEGER NOT NULL) STRICT
            """,
            // An entry's origin as scheme, host and port (filled in by the delivering process), its own
            // limits, and the number of attempts that were sent completely and not answered in time. The
            // state of origins that refuse, and of requests without TLS (`http`).
            """
            ALTER TABLE entries ADD COLUMN origin TEXT NOT NULL DEFAULT '';
            ALTER TABLE entries ADD COLUMN timeout INTEGER;
            ALTER TABLE entries ADD COLUMN tries INTEGER;
            ALTER TABLE entries ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 0;
            CREATE TABLE holds (
                origin TEXT PRIMARY KEY, suspects TEXT NOT NULL, last INTEGER NOT NULL, since INTEGER NOT NULL,
                until INTEGER NOT NULL, trials INTEGER NOT NULL, spent INTEGER NOT NULL, reason TEXT NOT NULL) STRICT
            """,
            // Origin and host follow from the URL, and are wanted of each lane's oldest entry alone: in all
            // entries they were a tenth of the file. The delivering process fills in those of older files.
            """
            ALTER TABLE lanes ADD COLUMN origin TEXT NOT NULL DEFAULT '';
            ALTER TABLE entries DROP COLUMN origin;
            ALTER TABLE entries DROP COLUMN host
            """,
            // What only some entries have is apart, so that the others cost no more: names, times, windows,
            // gates and tags. A scheduled entry (state 2) is in no lane, and `next` is its time. A
            // lane has the gates of its oldest entry, and when its window opens, once that was found closed.
            // Gates that are held, and what became of entries, with the server's answer.
            """
            CREATE TABLE plans (
                id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE, name TEXT, successor INTEGER,
                planned INTEGER, delay INTEGER NOT NULL, window TEXT, every INTEGER, gates TEXT NOT NULL) STRICT;
            CREATE INDEX named ON plans (name, id) WHERE name IS NOT NULL;
            CREATE INDEX replaced ON plans (id) WHERE successor IS NOT NULL;
            CREATE TABLE tags (
                tag TEXT NOT NULL, id INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
                PRIMARY KEY (tag, id)) STRICT, WITHOUT ROWID;
            CREATE INDEX tagged ON tags (id);
            CREATE INDEX scheduled ON entries (next) WHERE state = 2;
            DROP INDEX expiring;
            CREATE INDEX expiring ON entries (expires) WHERE expires IS NOT NULL AND state <> 1;
            ALTER TABLE lanes ADD COLUMN gates TEXT NOT NULL DEFAULT '';
            ALTER TABLE lanes ADD COLUMN opens INTEGER NOT NULL DEFAULT 0;
            CREATE INDEX opening ON lanes (opens) WHERE opens > 0;
            CREATE TABLE gates (
                name TEXT PRIMARY KEY, reason TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER,
                boot TEXT NOT NULL) STRICT, WITHOUT ROWID;
            ALTER TABLE results ADD COLUMN successor INTEGER;
            ALTER TABLE results ADD COLUMN header TEXT;
            ALTER TABLE results ADD COLUMN body BLOB
            """,
            // The batch of a lane that is, or was, being sent, and the last of the entries among which one is
            // searched for that the server refuses. What lanes have sent over expensive paths on a day,
            // counted from 1970-01-01 in local time, and the lanes that wait for another path or day.
            """
            CREATE TABLE batches (lane TEXT PRIMARY KEY, members TEXT NOT NULL, suspects INTEGER) STRICT, WITHOUT ROWID;
            CREATE TABLE spending (
                lane TEXT NOT NULL, day INTEGER NOT NULL, bytes INTEGER NOT NULL, requests INTEGER NOT NULL,
                PRIMARY KEY (lane, day)) STRICT, WITHOUT ROWID;
            CREATE TABLE waits (lane TEXT PRIMARY KEY, reason TEXT NOT NULL) STRICT, WITHOUT ROWID
            """,
            // Entries whose answers become files: where, what is asked besides, which URLs are not asked any
            // more (a bit each), the size of the whole, that of the file that is in its place, and why it
            // waits. Files of entries that have left, which the delivering process removes. Into which
            // folders, one a line.
            """
            CREATE TABLE downloads (
                id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE, path TEXT NOT NULL,
                part TEXT NOT NULL, sha256 TEXT, mirrors TEXT NOT NULL, mode INTEGER NOT NULL, user INTEGER,
                team INTEGER, struck INTEGER NOT NULL DEFAULT 0, total INTEGER, placed INTEGER, hold TEXT) STRICT;
            CREATE TABLE leftovers (
                part TEXT PRIMARY KEY, path TEXT NOT NULL, user INTEGER, team INTEGER) STRICT, WITHOUT ROWID;
            ALTER TABLE limits ADD COLUMN folders TEXT NOT NULL DEFAULT '';
            ALTER TABLE limits ADD COLUMN file INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE results ADD COLUMN file TEXT;
            ALTER TABLE results ADD COLUMN bytes INTEGER
            """,
        ])
}
