// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import reach

/// The outbox and the history of a running service, through a stock client.
@Suite(
    "reach serve: outbox and history", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct ServeOutboxTests {
    @Test(
        "a request waits on the disk while there is no network, survives kill -9, and is sent when the cable is in"
    )
    func delivery() async throws {
        let lab = try await ServeLab()
        let server = try await lab.lab.startOrigin()
        try await lab.lab.far.ip("link set p0 down")
        #expect(await lab.notices.comes { $0.contains { $0.hasPrefix("STATUS=unreachable") } })
        let receipt = try await lab.ask(
            "Enqueue", #"{"url":"http://10.0.0.1:8080/a","body":"hello","idempotencyKey":"k1"}"#)
        #expect(receipt.contains(#""idempotencyKey": "k1""#), "\(receipt)")
        #expect(try await lab.ask("ListOutbox").contains(#""state": "waiting""#))
        #expect(try await lab.ask("RetryOutbox", #"{"id":"77"}"#) == "io.reach.Reachability.NoSuchEntry\n")

        lab.service.terminate(signal: SIGKILL)
        #expect(try await lab.service.status() == .killed(signal: SIGKILL))
        let again = try await lab.lab.near.start(lab.command)
        #expect(await lab.notices.comes { $0.count { $0.hasPrefix("READY=1") } == 2 })
        #expect(try await lab.ask("ListOutbox").contains(#""url": "http://10.0.0.1:8080/a""#))

        try await lab.lab.far.ip("link set p0 up")
        #expect(
            await server.output.comes { $0.contains("POST /a 5 hello None None k1") },
            "\(again.standardError)")
        // Confirmed, so it was removed.
        var list = try await lab.ask("ListOutbox")
        for _ in 0..<100 where !list.contains(#""total": 0"#) { list = try await lab.ask("ListOutbox") }
        #expect(list.contains(#""total": 0"#), "\(list)")
        again.terminate()
        #expect(try await again.status() == .exited(0))
        server.terminate()
        try await lab.remove()
    }

    @Test("a request that is removed is not sent; one that cannot be sent is refused")
    func removal() async throws {
        let lab = try await ServeLab(.f0)
        let receipt = try await lab.ask("Enqueue", #"{"url":"http://192.0.2.1/","body":"x"}"#)
        let id = try #require(receipt.split(separator: "\"").dropFirst(3).first)
        #expect(try await lab.ask("ListOutbox").contains(#""total": 1"#))
        #expect(try await lab.ask("RemoveOutbox", #"{"id":"\#(id)"}"#) == "{}\n")
        #expect(try await lab.ask("ListOutbox").contains(#""total": 0"#))
        #expect(
            try await lab.ask("Enqueue", #"{"url":"nonsense"}"#) == "org.varlink.service.InvalidParameter\n")
        #expect(try await lab.stop() == .exited(0))
    }

    @Test("the history has the periods, the last of them open")
    func history() async throws {
        let lab = try await ServeLab()
        try await lab.lab.far.ip("link set p0 down")
        #expect(await lab.notices.comes { $0.contains { $0.hasPrefix("STATUS=unreachable") } })
        // Written a moment ago without an event for clients, so the query is repeated until the disk has it.
        var answer = ""
        for _ in 0..<200 where !answer.contains("unreachable") { answer = try await lab.ask("GetHistory") }
        #expect(
            answer.contains(#""status": "wired""#) && answer.contains(#""status": "unreachable""#),
            "\(answer)")
        #expect(answer.contains(#""until": null"#))
        #expect(try await lab.stop() == .exited(0))
    }

    /// Runs `reach ARGUMENTS` with this service.
    private func reach(_ lab: ServeLab, _ arguments: String..., user: Bool = false) async throws
        -> ProgramResult
    {
        let rights = user ? ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"] : []
        // The rights are dropped last: the program may lie in a folder that only this user can read.
        return try await lab.lab.near.reactor.run(
            ["env", "REACH_SOCKET=\(lab.socket)", "LC_ALL=C.UTF-8"] + rights + [BuiltProgram.reach]
                + arguments)
    }

    @Test(
        "FLD-035 FLD-040 OBX-075 reach send and reach queue go through the service: everything of a request arrives, and its end is told"
    )
    func program() async throws {
        let lab = try await ServeLab()
        let server = try await lab.lab.startOrigin()
        let files = try ScratchFolder("reach-send")
        try "t0k\n".write(toFile: files("token"), atomically: false, encoding: .utf8)
        try Data(repeating: 120, count: 300_000).write(to: URL(filePath: files("large")))
        try Data(repeating: 120, count: 800_000).write(to: URL(filePath: files("larger")))

        #expect(try await reach(lab, "queue", "pause").status == .exited(0))
        let taken = try await reach(
            lab, "send", "http://10.0.0.1:8080/a", "-X", "PUT", "--data-file", files("large"), "-H",
            "X-A: 1, 2",
            "--secret", "X-Token: file:" + files("token"), "--lane", "l", "--priority", "3", "--network",
            "notExpensive",
            "--expires", "600", "--key", "mine", "--json")
        #expect(
            taken.text.contains(#""id":1,"idempotencyKey":"mine","repeated":false,"outcome":"queued""#),
            "\(taken.errors)")
        let again = try await reach(
            lab, "send", "http://10.0.0.1:8080/a", "-X", "PUT", "-d", "@" + files("large"), "--key", "mine",
            "--json")
        #expect(again.text.contains(#""id":1,"idempotencyKey":"mine","repeated":true"#), "\(again.text)")
        let other = try await reach(
            lab, "send", "http://10.0.0.1:8080/a", "-X", "PUT", "-d", "x", "--key", "mine")
        #expect(
            other.status == .exited(1) && other.text.isEmpty && other.errors.contains("request 1"), "\(other)"
        )
        let list = try await lab.lab.near.run(
            BuiltProgram.reach, "queue", "--json", "--state-directory", lab.folder + "/state")
        #expect(list.contains(#""paused":true"#) && list.contains(#""network":"notExpensive""#), "\(list)")
        #expect(list.contains(#""lane":"l","priority":3,"#) && !list.contains(#""expires":null"#))
        #expect(try await reach(lab, "queue", "resume").status == .exited(0))
        #expect(await server.output.comes { $0.contains("PUT /a 300000 long 1, 2 t0k mine") })
        let sent = try await reach(
            lab, "send", "http://10.0.0.1:8080/b", "-X", "PUT", "-d", "x", "--wait", "--json")
        #expect(sent.status == .exited(0) && sent.text.contains(#""outcome":"delivered","statusCode":204"#))
        let refused = try await reach(
            lab, "send", "http://10.0.0.1:8080/refused", "-X", "PUT", "-d", "x", "--now")
        #expect(refused.status == .exited(4) && refused.errors.contains("422"), "\(refused)")
        let large = try await reach(
            lab, "send", "http://10.0.0.1:8080/c", "-X", "PUT", "--data-file", files("larger"), "--wait")
        #expect(large.status == .exited(0), "\(large.errors)")
        #expect(await server.output.comes { $0.contains { $0.hasPrefix("PUT /c 800000 long") } })
        #expect(try await reach(lab, "queue", "pause").status == .exited(0))
        _ = try await reach(lab, "send", "http://ann:s3cret@10.0.0.1:8080/d")
        let planned = try await reach(
            lab, "send", "http://10.0.0.1:8080/e", "--replaces", "n", "--tag", "t", "--not-before", "+2h",
            "--window",
            "01:00-05:00", "--every", "24h", "--gate", "g", "--json")
        #expect(planned.status == .exited(0), "\(planned.errors)")
        let kept = try await reach(
            lab, "send", "http://10.0.0.1:8080/e", "--replaces", "n", "--keep", "--json")
        #expect(kept.text.contains(#""repeated":true"#), "\(kept)")
        let elsewhere = try await reach(
            lab, "send", "http://10.0.0.1:8080/e", "--replaces", "n", "--lane", "other")
        #expect(
            elsewhere.status == .exited(1) && elsewhere.errors.contains("belongs to one lane"), "\(elsewhere)"
        )
        let short = try await reach(lab, "send", "http://10.0.0.1:8080/e", "--replaces", "n", "--every", "5s")
        #expect(short.status == .exited(64) && short.errors.contains("1 minute"), "\(short)")
        let tagged = try await lab.ask("ListOutbox", #"{"tag":"t"}"#)
        #expect(
            tagged.contains(#""state": "scheduled""#) && tagged.contains(#""window": "01:00-05:00""#),
            "\(tagged)")
        #expect(try await reach(lab, "queue", "hold", "g", "--reason", "low").status == .exited(0))
        #expect(try await reach(lab, "queue", "gates").text.contains("low"))
        #expect(try await reach(lab, "queue", "release", "g").status == .exited(0))
        #expect(try await reach(lab, "queue", "release", "g").status == .exited(1))
        let shown = try await lab.ask("ListOutbox")
        #expect(shown.contains(#""url": "http://10.0.0.1:8080/d""#) && !shown.contains("s3cret"), "\(shown)")
        let gone = try await lab.ask("WaitOutbox", #"{"id":"77"}"#)
        #expect(gone == "io.reach.Reachability.NoSuchEntry\n")
        server.terminate()
        #expect(try await lab.stop() == .exited(0))
    }

    @Test("who waits for a request gets TimedOut; one who has gone is forgotten; a failure may be flushed")
    func waiting() async throws {
        let lab = try await ServeLab()
        _ = try await lab.ask("Enqueue", #"{"url":"http://10.0.0.1:9/","body":"x"}"#)
        #expect(
            try await lab.ask("WaitOutbox", #"{"id":"1","timeout":0.05}"#)
                == "io.reach.Reachability.TimedOut\n")
        let late = try await reach(lab, "send", "http://10.0.0.1:9/", "--wait", "--timeout", "0.2")
        #expect(late.status == .exited(2), "\(late.errors)")
        #expect(try await reach(lab, "queue", "flush").status == .exited(0))
        // The service detects the end of a connection later, without an event for clients, so its state is
        // polled.
        for _ in 0..<1_000 where !lab.service.standardError.contains(" 0 waiting") {
            lab.service.terminate(signal: SIGUSR1)
            _ = try await lab.ask("GetStatus")
        }
        #expect(lab.service.standardError.contains(" 0 waiting"), "\(lab.service.standardError)")
        #expect(try await lab.stop() == .exited(0))
    }

    @Test(
        "who waits for the end of a request waits on while the service is started again",
        arguments: [SIGTERM, SIGKILL])
    func restarted(signal: Int32) async throws {
        let lab = try await ServeLab()
        let server = try await lab.lab.startOrigin()
        try await lab.lab.far.ip("link set p0 down")
        #expect(await lab.notices.comes { $0.contains { $0.hasPrefix("STATUS=unreachable") } })
        let program = try await lab.lab.near.start(
            "env", "REACH_SOCKET=\(lab.socket)", BuiltProgram.reach, "send", "http://10.0.0.1:8080/a", "-d",
            "x",
            "--wait")
        #expect(await program.output.wait(forCount: 1) == ["1"])
        for _ in 0..<1_000 where !lab.service.standardError.contains(" 1 waiting") {
            lab.service.terminate(signal: SIGUSR1)
            _ = try await lab.ask("GetStatus")
        }
        #expect(lab.service.standardError.contains(" 1 waiting"), "\(lab.service.standardError)")
        lab.service.terminate(signal: signal)
        _ = try await lab.service.status()
        let again = try await lab.lab.near.start(lab.command)
        #expect(await lab.notices.comes { $0.count { $0.hasPrefix("READY=1") } == 2 })
        try await lab.lab.far.ip("link set p0 up")
        #expect(try await program.status() == .exited(0), "\(program.standardError)")
        #expect(program.output.elements == ["1"])
        #expect(program.standardError.contains("request 1 is kept, and the service waited for"))
        again.terminate()
        #expect(try await again.status() == .exited(0))
        server.terminate()
        _ = try await server.status()
        #expect(server.output.elements.count { $0.contains("POST /a 1 x") } == 1)
        try await lab.remove()
    }

    @Test(
        "another user: the history by the socket; no outbox, and of the group no secrets that the service would read",
        .enabled(if: geteuid() == 0, "another user can be played by root alone"))
    func otherUser() async throws {
        let lab = try await ServeLab(options: ["--outbox-group", "54321"])
        try await lab.lab.far.ip("link set p0 down")
        #expect(await lab.notices.comes { $0.contains { $0.hasPrefix("STATUS=unreachable") } })
        let denied = try await reach(lab, "send", "http://10.0.0.1:9/", user: true)
        #expect(denied.status == .exited(74) && denied.errors.contains("outbox.group"), "\(denied.errors)")
        var history = try await reach(lab, "history", "--json", user: true)
        for _ in 0..<200 where !history.text.contains("unreachable") {
            history = try await reach(lab, "history", "--json", user: true)
        }
        #expect(
            history.status == .exited(0) && history.text.contains(#""outages":1"#),
            "\(history.text) \(history.errors)")
        let member = ["setpriv", "--reuid", "65534", "--regid", "65534", "--groups", "54321", "--"]
        func enqueue(_ more: String) async throws -> String {
            try await lab.lab.near.run(
                member + [
                    "/usr/bin/python3", "-c", ServeLab.call, lab.socket, "Enqueue",
                    #"{"url":"http://10.0.0.1:9/"\#(more)}"#,
                ])
        }
        #expect(try await enqueue("").contains(#""id": "1""#))
        let secret = #","secrets":[{"name":"X","source":"file","key":"/etc/shadow"}]"#
        #expect(try await enqueue(secret) == "org.varlink.service.PermissionDenied\n")
        #expect(try await lab.stop() == .exited(0))
    }

    @Test("FLD-112 reach history shows the history of the service that REACH_SOCKET names, and no other")
    func namedService() async throws {
        let lab = try await ServeLab()
        // By its file, and by what the service answers.
        for _ in 0..<2 {
            var history = try await reach(lab, "history", "--json")
            for _ in 0..<200 where !history.text.contains("wired") {
                history = try await reach(lab, "history", "--json")
            }
            #expect(history.status == .exited(0) && history.text.contains("wired"), "\(history)")
            unlink(lab.socket + ".state")
        }
        #expect(try await lab.stop() == .exited(0))
        let none = try await reach(lab, "history")
        #expect(none.status == .exited(66) && none.errors.contains("which REACH_SOCKET names"), "\(none)")
    }

    @Test("Explain takes names")
    func names() async throws {
        let lab = try await ServeLab()
        let named = try await lab.ask("Explain", #"{"host":"localhost"}"#)
        #expect(named.contains(#""host": "localhost""#) && named.contains(#""interface": "lo""#), "\(named)")
        #expect(try await lab.stop() == .exited(0))
    }

    /// The stored rows of the history, one a line, after SQLite's check of the file.
    private static let rows = """
        import sqlite3, sys
        database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, timeout=60)
        print(database.execute("PRAGMA integrity_check").fetchone()[0])
        for row in database.execute("SELECT * FROM changes ORDER BY id"):
            print(row)
        """

    @Test(
        "what was written of the history survives kill -9 at random instants, and the next one continues it"
    )
    func killedHistory() async throws {
        let lab = try await ServeLab()
        let file = lab.folder + "/state/history.sqlite"
        func rows() async throws -> [Substring] {
            try await lab.lab.near.run("/usr/bin/python3", "-c", Self.rows, file).split(separator: "\n")
        }
        var (service, written) = (lab.service, [Substring]())
        for round in 1...8 {
            for _ in 0..<Int.random(in: 1...4) {
                try await lab.lab.far.ip("link set p0 down")
                try await lab.lab.far.ip("link set p0 up")
            }
            let before = try await rows()
            #expect(before.starts(with: written) && before.first == "ok")
            try await lab.lab.far.ip("link set p0 down")
            service.terminate(signal: SIGKILL)
            #expect(try await service.status() == .killed(signal: SIGKILL))
            try await lab.lab.far.ip("link set p0 up")
            written = try await rows()
            #expect(written.starts(with: before), "round \(round)")
            service = try await lab.lab.near.start(lab.command)
            #expect(await lab.notices.comes { $0.count { $0.hasPrefix("READY=1") } == round + 1 })
        }
        #expect(written.count > 8)
        let history = try await reach(lab, "history", "--json", "--state-directory", lab.folder + "/state")
        #expect(history.status == .exited(0), "\(history.errors)")
        service.terminate()
        #expect(try await service.status() == .exited(0))
        try await lab.remove()
    }
}
