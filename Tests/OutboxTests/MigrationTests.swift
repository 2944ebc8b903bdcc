// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storage
import TestSupport
import Testing

@testable import Outbox

/// A file as the program wrote it before entries had names, times, gates and tags.
@Suite struct MigrationTests {
    private let lab: OutboxLab
    private var path: String { lab.path + "/outbox.sqlite" }

    init() throws { lab = try OutboxLab() }

    /// Delivered: 1.
    ///
    /// Dead: 2, with its answer. Waiting: 3 and 4 in a lane, 5, which expires.
    private static let sixth = """
        CREATE TABLE clock (
            one INTEGER PRIMARY KEY CHECK (one = 1), boot TEXT NOT NULL, start INTEGER NOT NULL,
            first INTEGER NOT NULL) STRICT;
        INSERT INTO clock VALUES(1,'82152d95-34cf-4f03-8219-047d59bcc57e',1795721774974,1);
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY AUTOINCREMENT, state INTEGER NOT NULL DEFAULT 0, lane TEXT NOT NULL,
            priority INTEGER NOT NULL, method TEXT NOT NULL, url TEXT NOT NULL, condition INTEGER NOT NULL, key TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
            created INTEGER NOT NULL, expires INTEGER, attempts INTEGER NOT NULL DEFAULT 0,
            next INTEGER NOT NULL DEFAULT 0, failure TEXT, reason TEXT, status INTEGER, refusals INTEGER NOT NULL DEFAULT 0, timeout INTEGER, tries INTEGER, unanswered INTEGER NOT NULL DEFAULT 0) STRICT;
        INSERT INTO entries VALUES(2,1,'default',0,'POST','http://127.0.0.1:18999/refused',0,'k2',6,1795722985992,NULL,1,0,'refused','the server answered 404',404,0,NULL,NULL,0);
        INSERT INTO entries VALUES(3,0,'samples',3,'POST','https://api.example.com/samples',3,'k3',10,1795722986264,NULL,0,0,NULL,NULL,NULL,0,NULL,NULL,0);
        INSERT INTO entries VALUES(4,0,'samples',0,'POST','https://api.example.com/samples',0,'k4',10,1795722986456,NULL,0,0,NULL,NULL,NULL,0,30000,7,0);
        INSERT INTO entries VALUES(5,0,'log',0,'POST','http://192.0.2.1/log',0,'k5',5,1795722986635,1795809386631,0,0,NULL,NULL,NULL,0,NULL,NULL,0);
        CREATE TABLE contents (
            id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE, header TEXT NOT NULL,
            secrets TEXT NOT NULL, body BLOB, file TEXT) STRICT;
        INSERT INTO contents VALUES(2,'','',X'7365636F6E64',NULL);
        INSERT INTO contents VALUES(3,'Content-Type: application/json
        ','Authorization
        Bearer 
        file
        /etc/token
        ',X'7B226B5768223A34327D',NULL);
        INSERT INTO contents VALUES(4,'','',X'7B226B5768223A34337D',NULL);
        INSERT INTO contents VALUES(5,'','',X'6669667468',NULL);
        CREATE TABLE holds (
            origin TEXT PRIMARY KEY, suspects TEXT NOT NULL, last INTEGER NOT NULL, since INTEGER NOT NULL,
            until INTEGER NOT NULL, trials INTEGER NOT NULL, spent INTEGER NOT NULL, reason TEXT NOT NULL) STRICT;
        INSERT INTO holds VALUES('http://127.0.0.1:18999','2',1795722986029,0,0,0,0,'');
        CREATE TABLE lanes (
            name TEXT PRIMARY KEY, head INTEGER NOT NULL, priority INTEGER NOT NULL,
            condition INTEGER NOT NULL, host TEXT NOT NULL, next INTEGER NOT NULL, origin TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
        INSERT INTO lanes VALUES('log',5,0,0,'192.0.2.1',0,'http://192.0.2.1');
        INSERT INTO lanes VALUES('samples',3,3,3,'api.example.com',0,'https://api.example.com');
        CREATE TABLE limits (
            one INTEGER PRIMARY KEY CHECK (one = 1), entries INTEGER NOT NULL, bytes INTEGER NOT NULL,
            body INTEGER NOT NULL, policy TEXT NOT NULL) STRICT;
        INSERT INTO limits VALUES(1,17,1000,100,'dropOldest');
        CREATE TABLE replies (
            id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE, status INTEGER NOT NULL,
            header TEXT NOT NULL, body BLOB NOT NULL) STRICT;
        INSERT INTO replies VALUES(2,404,'Content-Length: 13
        ',X'6E6F2073756368206D65746572');
        CREATE TABLE results (
            id INTEGER PRIMARY KEY, outcome TEXT NOT NULL, status INTEGER, at INTEGER NOT NULL) STRICT;
        INSERT INTO results VALUES(1,'delivered',204,1795722985709);
        CREATE TABLE totals (
            one INTEGER PRIMARY KEY CHECK (one = 1), waiting INTEGER NOT NULL, dead INTEGER NOT NULL,
            bytes INTEGER NOT NULL, paused INTEGER NOT NULL) STRICT;
        INSERT INTO totals VALUES(1,3,1,31,1);
        CREATE INDEX waiting ON entries (lane, id) WHERE state = 0;
        CREATE INDEX expiring ON entries (expires) WHERE expires IS NOT NULL AND state = 0;
        CREATE INDEX dead ON entries (id) WHERE state = 1;
        CREATE INDEX files ON contents (file) WHERE file IS NOT NULL;
        CREATE INDEX ready ON lanes (condition, priority DESC, head);
        CREATE INDEX due ON lanes (next);
        PRAGMA application_id = 1588333313; PRAGMA user_version = 6
        """

    private func makeFile() throws {
        try OutboxPaths(folder: lab.path).make()
        try Database(path).execute(Self.sixth)
    }

    @Test("OBX-010 A file of the sixth version is upgraded, and everything is found in it")
    func sixthVersion() async throws {
        try makeFile()
        let outbox = try await lab.open { $0.usesStoredLimits = true }
        #expect(outbox.limits.maximumEntries == 17 && outbox.limits.policy == .dropOldest)
        let entries = try await outbox.entries()
        #expect(
            entries.map(\.id.rawValue) == [2, 3, 4, 5]
                && entries.map(\.state) == [.dead, .waiting, .waiting, .waiting])
        #expect(entries.map(\.lane) == ["default", "samples", "samples", "log"])
        #expect(entries.map(\.networkCondition) == [.any, .notExpensive, .any, .any])
        #expect(entries[2].maximumAttempts == 7 && entries[1].priority == 3 && entries[3].expires != nil)
        #expect(
            entries.allSatisfy {
                $0.tags.isEmpty && $0.replaces == nil && $0.gates.isEmpty && $0.window == nil
            })
        #expect(try await outbox.reply(to: entries[0].id)?.body == Data("no such meter".utf8))
        #expect(try await outbox.result(of: OutboxID(rawValue: 1))?.statusCode == 204)
        let counts = try await outbox.counts()
        #expect(counts.waiting == 3 && counts.dead == 1 && counts.bytes == 31 && counts.isPaused)
        // The new columns work on what was there, and on what comes.
        var named = try OutboxRequest(to: "http://192.0.2.1/state")
        (named.replaces, named.tags, named.gates) = ("state", ["a"], ["battery"])
        named.notBefore = Date(timeIntervalSinceNow: 3_600)
        let receipt = try await outbox.enqueue(named)
        #expect(receipt.id.rawValue == 6)
        #expect(try await outbox.remove(OutboxSelection(lane: "samples")).map(\.rawValue) == [3, 4])
        #expect(try await outbox.entry(receipt.id)?.tags == ["a"])
        await outbox.close()
        let database = try Database(path)
        #expect(try database.integer("PRAGMA user_version") == 9 && database.faults(isQuick: false).isEmpty)
        #expect(lab.events.elements.allSatisfy { if case .damaged = $0 { false } else { true } })
    }

    @Test(
        "OBX-011 A file of a newer program is refused, in a sentence with both versions, and stays as it is")
    func newer() async throws {
        try makeFile()
        try Database(path).execute("PRAGMA user_version = 10")
        do {
            _ = try await lab.open()
            Issue.record("it was opened")
        } catch let error as OutboxError {
            #expect(error.message.contains("version 10, and this program knows 9"), "\(error)")
        }
        #expect(try Database(path).integer("SELECT count(*) FROM entries") == 4)
    }

    @Test("OBX-012 What a damaged file says of names, times, gates and tags is carried over")
    func salvaged() async throws {
        let outbox = try await lab.open()
        var request = try OutboxRequest(to: "http://192.0.2.1/state", lane: "l")
        (request.replaces, request.tags, request.gates) = ("state", ["a", "b"], ["battery"])
        (request.window, request.every) = (OutboxWindow("02:00-05:00"), .seconds(3_600))
        request.notBefore = Date(timeIntervalSinceNow: 3_600)
        let id = try await outbox.enqueue(request).id
        try await outbox.hold(gate: "battery", reason: "low")
        let before = try await outbox.entry(id)
        await outbox.close()
        _ = try DatabaseRecovery(OutboxPaths(folder: lab.path)).run()
        let next = try await lab.open()
        #expect(try await next.entry(id) == before && before?.every == .seconds(3_600))
        #expect(try await next.gates().map(\.reason) == ["low"])
        let counts = try await next.counts()
        #expect(counts.waiting == 1 && counts.oldest == nil)
        await next.close()
    }
}
