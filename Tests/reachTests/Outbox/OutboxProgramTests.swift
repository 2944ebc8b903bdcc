// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Outbox
import TestSupport
import Testing

@testable import reach

@Suite("reach send and reach queue")
struct OutboxProgramTests {
    private let origin: TestSupport.Origin
    private let folder: ScratchFolder
    private let account: String

    init() async throws {
        origin = try await Origin.shared
        folder = try ScratchFolder("reach-queue")
        account = String(folder.path.suffix(6))
    }

    private func reach(_ arguments: String..., environment: [String] = []) async throws -> (
        code: Int32, text: String, errors: String
    ) { try await reach(arguments, environment: environment) }

    /// Runs `reach ARGUMENTS --state-directory …`.
    private func reach(_ arguments: [String], environment: [String] = []) async throws -> (
        code: Int32, text: String, errors: String
    ) {
        let command =
            ["/usr/bin/env", "-u", "http_proxy", "LC_ALL=C.UTF-8"] + environment + [BuiltProgram.reach]
            + arguments
        let end = try await origin.run(command + ["--state-directory", folder("state")])
        guard case .exited(let code) = end.status else { throw LabError("it was killed: \(end.status)") }
        return (code, end.text, end.errors)
    }

    @Test("a request waits, is shown, and is delivered here and now with what it needs")
    func delivery() async throws {
        let url = origin.url("/post?key=\(account)&n=1")
        let first = try await reach(
            "send", url, "-d", "content", "-H", "X-A: b", "--secret", "Authorization: Bearer env:REACH_TOKEN",
            "--lane", "a", "--key", "mine")
        #expect(first.code == 0 && first.text == "1\n", "\(first)")
        let again = try await reach("send", url, "-d", "content", "--key", "mine", "--json")
        #expect(again.text.contains("\"id\":1,") && again.text.contains("\"repeated\":true"), "\(again)")
        let list = try await reach("queue", "list", "--json")
        #expect(list.text.contains("\"waiting\":1,") && list.text.contains("\"lane\":\"a\""), "\(list)")
        #expect(try await origin.count(account) == 0)
        let now = try await reach(
            "send", origin.url("/post?key=\(account)&n=2"), "--lane", "a", "--now", "--json",
            environment: ["REACH_TOKEN=t"])
        #expect(now.code == 0 && now.text.contains("\"outcome\":\"delivered\",\"statusCode\":200"), "\(now)")
        #expect(try await origin.count(account) == 2)
        #expect(try await reach("queue").text == "the outbox is empty\n")
    }

    @Test("a secret's file is found from any folder; a time limit says what becomes of the request")
    func lanesAndTimes() async throws {
        let field = try Value.secret("X-Token: Bearer file:token")
        #expect(field.key == FileManager.default.currentDirectoryPath + "/token")
        #expect(try Value.secret("X-Token: file:/etc/token").key == "/etc/token")
        #expect(try await reach("send", "http://127.0.0.1:1/").text == "1\n")
        // Long enough for a busy machine to store it.
        async let text = reach("send", "http://127.0.0.1:1/", "--wait", "--timeout", "5")
        async let object = reach("send", "http://127.0.0.1:1/", "--wait", "--timeout", "5", "--json")
        let (late, json) = try await (text, object)
        let number = String(late.text.dropLast())
        #expect(late.code == 2 && Int(number) != nil, "\(late)")
        #expect(
            late.errors
                == "reach: not delivered in time, and still in the outbox; 'reach queue show \(number)' has more\n"
        )
        #expect(json.code == 2 && json.text.contains("\"outcome\":\"queued\""), "\(json)")
    }

    @Test("a refusal is a dead letter, which can be looked at, tried again and removed")
    func deadLetter() async throws {
        let url = origin.url("/body?status=422&type=text/plain&text=salty&key=\(account)")
        let sent = try await reach("send", url, "--now")
        #expect(sent.code == 4 && sent.text == "1\n" && sent.errors.contains("422"), "\(sent)")
        let shown = try await reach("queue", "show", "1")
        #expect(
            shown.code == 0 && shown.text.contains("entry     1, dead") && shown.text.contains("salty"),
            "\(shown)")
        let retried = try await reach("queue", "retry")
        #expect(retried.code == 0 && retried.text == "1\n")
        let removed = try await reach("queue", "remove", "1", "7")
        #expect(
            removed.code == 1 && removed.text == "1\n" && removed.errors.contains("7 is not in the outbox"))
        #expect(try await reach("queue", "show", "1").code == 1)
    }

    @Test("a pause holds also what is sent here and now, and the time limit says so")
    func pause() async throws {
        #expect(try await reach("queue", "pause").code == 0)
        let url = origin.url("/post?key=\(account)")
        let held = try await reach("send", url, "--now", "--timeout", "0.2")
        #expect(held.code == 2, "\(held)")
        #expect(try await reach("queue", "list").text.contains("paused"))
        #expect(try await reach("queue", "flush").code == 0)
        #expect(try await origin.count(account) == 0)
        #expect(try await reach("queue", "resume").code == 0)
        let file = folder("content")
        #expect(
            try await origin.run(["/bin/sh", "-c", "head -c 100000 /dev/zero >\(file)"]).status == .exited(0))
        let large = try await reach(
            "send", origin.url("/upload?key=\(account)"), "--data-file", file, "--now", "--timeout", "60")
        #expect(large.code == 0, "\(large)")
        #expect(try await origin.statistics(account).received == 100_000)
    }

    @Test(
        "where there is no outbox, what looks at one says so and makes none; a pause is kept for what comes")
    func nothingThere() async throws {
        for command in [
            ["list"], ["list", "--json"], ["show", "1"], ["retry"], ["remove", "1"], ["resume"], ["flush"],
        ] {
            let end = try await reach(["queue"] + command)
            #expect(end.code == 66 && end.text.isEmpty, "\(command): \(end)")
            #expect(
                end.errors.hasPrefix(
                    "reach: there is no outbox in \(folder("state")); the first 'reach send'"),
                "\(end.errors)")
            #expect(folder.names == [], "\(command)")
        }
        #expect(try await reach("queue", "pause").code == 0)
        #expect(try await reach("queue", "list").text == "the outbox is empty, and paused\n")
        #expect(try await reach("queue", "show", "1").code == 1)
    }

    @Test(
        "what root puts into the outbox of a service's user, that user can deliver",
        .enabled(if: geteuid() == 0, "another user can be played by root alone"))
    func otherUsersFolder() async throws {
        let (state, file) = (folder("state"), folder("content"))
        try #require(chmod(folder.path, 0o755) == 0)
        try #require(mkdir(state, 0o700) == 0 && chown(state, 65534, 65534) == 0)
        try Data(count: 100_000).write(to: URL(filePath: file))
        let sent = try await reach("send", origin.url("/upload?key=\(account)"), "--data-file", file)
        #expect(sent.code == 0, "\(sent)")
        // The outbox is open now, with all that storing and delivering need.
        let delivered = try await origin.run([
            "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--", BuiltProgram.reach,
            "send", origin.url("/post?key=\(account)"), "--now", "--timeout", "60", "--state-directory",
            state,
        ])
        #expect(delivered.status == .exited(0), "\(delivered.errors)")
        #expect(try await origin.count(account) == 2)
        #expect(try await origin.statistics(account).received == 100_000)
    }

    @Test(
        "the limits of the configuration hold for what is put into the files, and those of a service that has used them"
    )
    func limits() async throws {
        let configured = ["REACH_SERVE_OUTBOX_ENTRIES=1"]
        #expect(try await reach(["send", "http://a/"], environment: configured).code == 0)
        let refused = try await reach(["send", "http://a/"], environment: configured)
        #expect(refused.code == 74 && refused.errors.contains("has 1 entries already"), "\(refused)")
        let outbox = try await RequestOutbox(at: folder("state/outbox"))
        var limits = outbox.limits
        limits.maximumEntries = 2
        outbox.limits = limits
        try await outbox.storeLimits()
        await outbox.close()
        #expect(try await reach(["send", "http://a/"], environment: configured).code == 0)
        let full = try await reach("send", "http://a/")
        #expect(full.code == 74 && full.errors.contains("has 2 entries already"), "\(full)")
    }

    @Test(
        "what waits in a stranger's outbox is not delivered with root's rights; it may be looked at and added to",
        .enabled(if: geteuid() == 0, "another user can be played by root alone"))
    func strangersOutbox() async throws {
        try #require(chmod(folder.path, 0o755) == 0)
        #expect(mkdir(folder("state"), 0o700) == 0 && chown(folder("state"), 65534, 65534) == 0)
        let url = origin.url("/post?key=\(account)")
        let now = try await reach("send", url, "--now", "--timeout", "60")
        #expect(now.code == 64 && now.text == "", "\(now)")
        #expect(now.errors.contains("\(folder("state")) belongs to user 65534"), "\(now)")
        #expect(try await reach("send", url).text == "1\n")
        #expect(try await reach("queue").text.hasPrefix("1 waiting"))
        #expect(try await origin.count(account) == 0)
    }

    @Test("FLD-034 -d @FILE and --data-file - send a file and standard input; --data-raw sends the text")
    func contents() async throws {
        try Data("from a file\n".utf8).write(to: URL(filePath: folder("content")))
        let url = origin.url("/post?key=\(account)")
        for (words, length) in [
            (["-d", "@" + folder("content")], 12),
            (["--data-raw", "@" + folder("content")], 1 + folder("content").utf8.count),
        ] {
            #expect(try await reach(["send", url] + words).code == 0)
            let list = try await reach("queue", "--json").text
            #expect(list.contains("\"bodySize\":\(length),"), "\(list)")
        }
        for (id, words) in [(3, "--data-file -"), (4, "-d @-")] {
            let end = try await origin.run([
                "/bin/sh", "-c",
                "head -c 100000 /dev/zero | \(BuiltProgram.reach) send '\(url)' \(words) --state-directory \(folder("state"))",
            ])
            #expect(end.status == .exited(0) && end.text == "\(id)\n", "\(end)")
            #expect(try await reach("queue", "show", "\(id)", "--json").text.contains("\"bodySize\":100000,"))
        }
        #expect(try await reach("send", url, "-d", "x", "--data-raw", "y").code == 64)
    }

    @Test("FLD-040 a key that waits with other content is a failure; the same content is not")
    func keyInUse() async throws {
        let url = origin.url("/post?key=\(account)")
        #expect(try await reach("send", url, "-d", "a", "--key", "k").text == "1\n")
        #expect(try await reach("send", url, "-d", "a", "--key", "k").text == "1\n")
        let other = try await reach("send", url, "-d", "b", "--key", "k")
        #expect(
            other.code == 1 && other.text.isEmpty
                && other.errors.contains("the key “k” is taken by request 1"), "\(other)")
        #expect(try await reach("queue").text.hasPrefix("1 waiting"))
    }

    @Test("FLD-036 what fails too often is given up, by an option of send or by the configuration")
    func maximumAttempts() async throws {
        let url = origin.url("/status/500?key=\(account)")
        let own = try await reach("send", url, "--maximum-attempts", "1", "--now", "--timeout", "60")
        #expect(own.code == 5 && own.errors.contains("500"), "\(own)")
        let configured = try await reach(
            ["send", url, "--now", "--timeout", "60"], environment: ["REACH_SERVE_OUTBOX_MAXIMUM_ATTEMPTS=1"])
        #expect(configured.code == 5, "\(configured)")
        #expect(try await reach("queue", "--state", "dead", "--json").text.contains("\"maximumAttempts\":1"))
        #expect(try await reach("send", url, "--maximum-attempts", "0").code == 64)
    }

    @Test(
        "OBX-073 only the newest of a name is kept, or the first; entries are listed, retried and removed by tag and status"
    )
    func names() async throws {
        let url = origin.url("/post?key=\(account)")
        #expect(try await reach("send", url, "--replaces", "state", "--tag", "a").text == "1\n")
        let second = try await reach("send", url, "--replaces", "state", "--tag", "a", "--tag", "b", "--json")
        #expect(second.text.contains("\"id\":2,") && second.text.contains("\"replaced\":[1]"), "\(second)")
        #expect(try await reach("queue").text.contains("; waits: request 2 takes its place"))
        let kept = try await reach("send", url, "--replaces", "state", "--keep", "--json")
        #expect(kept.text.contains("\"id\":2,") && kept.text.contains("\"repeated\":true"), "\(kept)")
        let other = try await reach("send", url, "--replaces", "state", "--lane", "other")
        #expect(other.code == 1 && other.errors.contains("a name belongs to one lane"), "\(other)")
        let list = try await reach("queue", "list", "--tag", "b", "--json")
        #expect(
            list.text.contains("\"replaces\":\"state\",\"tags\":[\"a\",\"b\"],\"notBefore\":null")
                && !list.text.contains("\"id\":1,"), "\(list)")
        let now = try await reach("send", url, "--replaces", "state", "--now", "--json")
        #expect(now.code == 0 && now.text.contains("\"reply\":{\"statusCode\":200"), "\(now)")
        #expect(try await origin.count(account) == 1)
        for status in ["404", "422"] {
            #expect(
                try await reach("send", origin.url("/status/\(status)?key=\(account)"), "--tag", "c", "--now")
                    .code == 4)
        }
        #expect(try await reach("queue", "pause").code == 0)
        let retried = try await reach("queue", "retry", "--all", "--status", "404", "--tag", "c")
        #expect(retried.code == 0 && retried.text.split(separator: "\n").count == 1, "\(retried)")
        #expect(try await reach("queue", "remove").code == 64)
        #expect(try await reach("queue", "remove", "1", "--tag", "c").code == 64)
        let removed = try await reach("queue", "remove", "--tag", "c")
        #expect(removed.code == 0 && removed.text.split(separator: "\n").count == 2, "\(removed)")
        #expect(try await reach("queue", "remove", "--all").code == 0)
    }

    @Test("OBX-074 a time, a window, a period and a gate are shown; a gate is held, listed and released")
    func times() async throws {
        let url = origin.url("/post?key=\(account)")
        let sent = try await reach(
            "send", url, "--replaces", "r", "--not-before", "2199-03-01T02:00:00Z", "--every", "24h",
            "--window",
            "sat,sun 22:00-06:00", "--spread", "30m", "--gate", "battery")
        #expect(sent.code == 0 && sent.text == "1\n", "\(sent)")
        let shown = try await reach("queue", "show", "1").text
        for line in [
            "entry     1, scheduled", "replaces  r", "earliest  2199-03-01T02:00:00.000Z",
            "window    sat,sun 22:00-06:00",
            "every     1 d", "gates     battery",
        ] { #expect(shown.contains(line), "\(line): \(shown)") }
        #expect(try await reach("queue", "--state", "scheduled").text.contains("; not before 2199-03-01T02:"))
        #expect(try await reach("queue", "gates").text == "no gate is held\n")
        #expect(try await reach("queue", "hold", "battery", "--reason", "12 %", "--for", "1h").code == 0)
        let gates = try await reach("queue", "gates", "--json")
        #expect(
            gates.text.hasPrefix(#"{"schema":1,"gates":[{"name":"battery","reason":"12 %","since":"2"#),
            "\(gates)")
        #expect(try await reach("queue", "gates").text.hasPrefix("battery  held since 2"))
        #expect(try await reach("queue", "release", "battery").code == 0)
        let again = try await reach("queue", "release", "battery")
        #expect(again.code == 1 && again.errors.contains("is not held"), "\(again)")
        for words in [
            ["--keep"], ["--every", "24h"], ["--every", "10s", "--replaces", "x"], ["--window", "2-5"],
            ["--not-before", "soon"], ["--spread", "5"], ["--tag", ""],
        ] { #expect(try await reach(["send", url] + words).code == 64, "\(words)") }
        let given = try GivenTime("+90m").date(from: Date(timeIntervalSince1970: 0))
        #expect(given == Date(timeIntervalSince1970: 5_400))
    }

    @Test("what cannot be taken says why")
    func refusals() async throws {
        for arguments in [
            ["ftp://a/"], ["http://a/", "-d", "x", "--data-file", "y"], ["http://a/", "--timeout", "1"],
        ] {
            let end = try await origin.run([BuiltProgram.reach, "send"] + arguments)
            #expect(end.status == .exited(64), "\(arguments)")
        }
        let missing = try await reach("send", "http://a/", "--data-file", folder("missing"))
        #expect(missing.code == 64 && missing.errors.contains("No such file"), "\(missing)")
        let end = try await origin.run([
            BuiltProgram.reach, "send", "http://a/", "--state-directory", "/proc/1/none",
        ])
        #expect(end.status == .exited(74), "\(end.errors)")
    }

    @Test("OBX-082 a service that ends before its answer is asked again, with the same key, unseen")
    func lostAnswer() async throws {
        let stored = #"{"parameters":{"id":"7","idempotencyKey":"","repeated":true,"replaced":[]}}"#
        let end = try await ScriptedService.run(
            [BuiltProgram.reach, "send", "http://127.0.0.1:9/", "-d", "x", "--json"],
            answers: "[null, null, \(stored)]", socket: folder("socket"), by: origin)
        let lines = end.text.split(separator: "\n")
        #expect(end.status == .exited(0) && end.errors.isEmpty && lines.count == 4, "\(end)")
        #expect(lines.first?.contains(#""id":7,"#) == true)
        #expect(lines.first?.contains(#""repeated":false"#) == true)
        #expect(lines.last?.contains(#""idempotencyKey": ""#) == true && Set(lines.dropFirst()).count == 1)
    }

    @Test(
        "OBX-083 a request whose answer is lost and that cannot be read again may be stored: its key is named"
    )
    func lostPipe() async throws {
        let end = try await ScriptedService.run(
            ["sh", "-c", "echo x | exec \(BuiltProgram.reach) send http://127.0.0.1:9/ -d @- --key mine"],
            answers: "[null]", socket: folder("socket"), by: origin)
        #expect(end.status == .exited(74), "\(end)")
        #expect(
            end.errors.contains("the request may be stored") && end.errors.contains("--key mine"),
            "\(end.errors)")
        #expect(end.text.split(separator: "\n").count == 1)
    }
}
