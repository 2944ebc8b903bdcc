// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What a command may have to wait for beside the network: pipes whose other end does nothing.
@Suite("The program: pipes that wait", .timeLimit(.minutes(10)))
struct GetWaitTests {
    /// `f` is a pipe without another end, `silent` one that is open at both ends and stays empty.
    private static let pipes = "mkfifo f silent full; exec 8<>silent 9<>full; "
    /// A signal once `command` has blocked it; killed where it does not notice.
    private static func signalled(_ name: String, _ command: String = "\"$@\"", after pause: Int = 0)
        -> String
    {
        ProgramSignal.script(name, command, after: pause)
    }

    @Test(
        "FLD-085 what get sends, and where it saves, is waited for until a signal or --max-time",
        arguments: ["-d @-", "-d @f", "-d @f -d a=b", "-d @silent", "-o f"], ["INT", "TERM"])
    func files(_ words: String, _ signal: String) async throws {
        let lab = try await GetLab()
        let options = words.split(separator: " ").map(String.init)
        let url = lab.origin.url("/anything")
        let interrupted = try await lab.shell(
            Self.pipes + Self.signalled(signal, "\"$@\" <&8"), options + [url])
        #expect(interrupted.code == 130, "\(interrupted)")
        #expect(interrupted.errors == "reach: interrupted\n", "\(interrupted)")
        let late = try await lab.shell("exec 8<>silent; exec \"$@\" <&8", options + ["-m", "0.3", url])
        #expect(late.code == 2 && late.errors.contains("in time"), "\(late)")
    }

    @Test("FLD-085 a pipe that is filled later is sent, and one that is read later is written")
    func later() async throws {
        let lab = try await GetLab()
        let sent = try await lab.shell(
            "mkfifo f; { sleep 0.3; timeout 60 sh -c 'echo hello >f'; } & exec \"$@\"",
            ["-m", "60", "-d", "@f", lab.origin.url("/anything")])
        #expect(sent.code == 0 && sent.text.contains("hello"), "\(sent)")
        let read = try await lab.shell(
            "{ sleep 0.3; timeout 60 cat f >copy; } & \"$@\"; code=$?; wait; exit $code",
            ["-m", "60", "-o", "f", lab.origin.url("/bytes/1000")])
        #expect(read.code == 0 && lab.content("copy")?.count == 1000, "\(read)")
        let folder = try await lab.get("-d", "@/", lab.origin.url("/anything"))
        #expect(folder.code == 64 && folder.errors == "reach: /: Is a directory\n", "\(folder)")
    }

    @Test("FLD-086 a client's certificate or key that is a pipe is refused", arguments: ["--cert", "--key"])
    func identity(_ option: String) async throws {
        let lab = try await GetLab()
        let other =
            option == "--cert" ? ["--key", lab.origin.pem(.client)] : ["--cert", lab.origin.pem(.client)]
        let end = try await lab.shell(
            "mkfifo f; exec timeout --kill-after 1 100 \"$@\"",
            other + [
                option, "f", "-m", "60", "--cacert", lab.origin.pem(.root),
                lab.origin.url("/bytes/10", at: .strictMTLS, host: "127.0.0.1"),
            ])
        #expect(end.code == 74 && end.errors.contains("\"f\" is no regular file"), "\(end)")
    }

    @Test("FLD-089 a passphrase comes through a pipe that is filled later")
    func passphrase() async throws {
        let lab = try await GetLab()
        let end = try await lab.shell(
            "{ sleep 0.5; echo \(Origin.password); } | \"$@\"",
            [
                "--max-time", "20", "--cacert", lab.origin.pem(.root), "--cert", lab.origin.pem(.client),
                "--key", lab.origin.encryptedClientKey, "--pass-file", "/dev/stdin",
                lab.origin.url("/bytes/1000", at: .strictMTLS, host: "127.0.0.1"),
            ])
        #expect(end.code == 0 && end.output.count == 1000, "\(end.errors)")
    }

    @Test("FLD-092 record waits for a reader of its pipe until a signal or --timeout")
    func record() async throws {
        let lab = try await GetLab()
        let reach = "\"$1\" record --host 127.0.0.1"
        let late = try await lab.shell(
            "mkfifo f; exec timeout --kill-after 1 60 \(reach) f --timeout 0.3", [])
        #expect(late.code == 2 && late.errors.contains("f: it was not opened for reading"), "\(late)")
        let signalled = Self.signalled("INT", reach + " f")
        let interrupted = try await lab.shell(signalled, [])
        #expect(interrupted.code == 130 && interrupted.errors == "reach: interrupted\n", "\(interrupted)")
        let read = try await lab.shell(
            "timeout 60 cat f >copy & \(reach) f --count 1 --timeout 60; code=$?; wait; exit $code", [])
        #expect(read.code == 0 && lab.content("copy")?.isEmpty == false, "\(read)")
    }

    @Test("FLD-096 a reader of standard output that stands still: --max-time counts, and a signal ends it")
    func reader() async throws {
        let lab = try await GetLab()
        let url = lab.origin.url("/bytes/300000")
        for options in [[], ["-o", "full"]] {
            let late = try await lab.shell(
                "rm -f f silent full; " + Self.pipes + "exec timeout --kill-after 1 60 \"$@\" >full",
                options + ["-m", "3", url])
            #expect(late.code == 2 && late.errors.contains("stood still for 3.0 seconds"), "\(late)")
            #expect(late.errors.contains("--max-time"), "\(late)")
            let interrupted = try await lab.shell(
                "exec 9<>full; " + Self.signalled("INT", "\"$@\" >full", after: 1), options + [url])
            #expect(interrupted.code == 130 && interrupted.errors == "reach: interrupted\n", "\(interrupted)")
        }
        let slow = try await lab.shell("\"$@\" | { sleep 0.3; cat; }", ["-m", "60", url, "-q"])
        #expect(slow.output.count == 300_000 && slow.errors.isEmpty, "\(slow.errors)")
    }
}
