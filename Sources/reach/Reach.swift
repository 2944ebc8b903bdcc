// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CRuntime
import EventLoop
import Glibc

/// The program: one file for each subcommand, all text in `Output`.
@main
struct Reach: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Tells whether the network can be reached, which way, and if not, what is missing.",
        discussion: """
            It asks the kernel's routing table. Packets are sent only by 'get', 'fetch', 'send', 'doctor' with a URL, --probe, a name that \
            --host looks up, and by 'serve' as it is configured.

            Exit codes: 0 reachable, or the condition is met; 1 unreachable or unknown; 2 timed out; \
            3 the kernel cannot be asked; 64 wrong usage; 130 interrupted; 'get' has more. JSON and exit codes are stable, text for \
            people is not.
            """,
        version: Self.version,
        subcommands: subcommands.map(\.type),
        defaultSubcommand: Status.self)

    /// Also the `_superCommandName` of each subcommand.
    ///
    /// In commands that have none the parser looks for its own options about completion scripts: with
    /// ``OptionWord`` a tenth of the work of `reach status`.
    static let name = "reach"

    /// By their names, which the parser would derive from the types at each start: more than all the rest
    /// that `reach status` does.
    static let subcommands: [(name: String, type: any ParsableCommand.Type)] = [
        ("status", Status.self), ("watch", Watch.self), ("wait", Wait.self), ("doctor", Doctor.self),
        ("get", Get.self), ("send", Send.self), ("fetch", Fetch.self), ("queue", Queue.self),
        ("record", Record.self), ("replay", Replay.self), ("serve", Serve.self), ("history", History.self),
    ]

    static let version = "0.1.0"

    static func main() {
        cruntime_prepare_memory()
        StandardStream.prepare()
        TaskThreads.install()
        guard let arguments = ProgramArguments.own else {
            complain("its arguments cannot be found; nothing was done")
            exit(withError: ExitCode.usage)
        }
        if let word = unknownSubcommand(arguments) {
            complain("no subcommand '\(word)'; see reach --help")
            exit(withError: ExitCode.usage)
        }
        do {
            var command = try command(arguments)
            try command.run()
        } catch let code as ExitCode {
            // The parser would write its help to say nothing: more than all of `reach status`.
            Glibc.exit(code.rawValue)
        } catch {
            let (code, message) = (exitCode(for: error), fullMessage(for: error))
            if code != .success, !message.isEmpty {
                let style = Terminal(descriptor: StandardStream.error.descriptor).style(.never)
                StandardStream.error.write(UsageText.text(message, style))
                exit(withError: code)
            }
            guard code == .success, !message.isEmpty else { exit(withError: error) }
            let text = message == helpMessage() ? help() : message
            do { try StandardStream.output.write(text + "\n").check() } catch { exit(withError: error) }
        }
    }

    /// The program's help, which says where the options of the default subcommand are documented.
    static func help(columns: Int? = nil) -> String {
        helpMessage(columns: columns)
            + "\n  Without a subcommand it is 'reach status'.\n  See 'reach help status' for its options."
    }

    /// Parses with the subcommand alone, and with the whole program where that fails: its messages name it,
    /// and its options are among them.
    static func command(_ arguments: [String]) throws -> any ParsableCommand {
        let named = subcommands.first { $0.name == arguments.first }
        let rest = named == nil ? arguments : Array(arguments.dropFirst())
        let type = named?.type ?? Status.self
        guard let command = try? type.parseAsRoot(rest), belongs(command, to: type) else {
            return try parseAsRoot(arguments)
        }
        return command
    }

    /// Whether it is a subcommand of this program, and not the parser's own for help, which would describe
    /// the subcommand that was parsed alone.
    private static func belongs(_ command: any ParsableCommand, to type: any ParsableCommand.Type) -> Bool {
        let kind = ObjectIdentifier(Swift.type(of: command))
        return kind == ObjectIdentifier(type)
            || type.configuration.subcommands.contains { ObjectIdentifier($0) == kind }
    }

    /// The first argument if it stands where a subcommand does and names none; the parser would take it for
    /// an argument of `reach status`.
    static func unknownSubcommand(_ arguments: [String]) -> String? {
        let isHelp = arguments.first == "help"
        guard let word = arguments.dropFirst(isHelp ? 1 : 0).first, !word.hasPrefix("-") else { return nil }
        return word == "help" || subcommands.contains { $0.name == word } ? nil : word
    }
}

/// Wraps the parser's messages, whose arguments may have control characters, to the terminal's width.
enum UsageText {
    /// The message, ending with a line feed; further lines are indented to its start.
    static func text(_ message: String, _ style: Style) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            style.line([(String(line), .plain)], indent: head(of: line)) + "\n"
        }.joined()
    }

    /// "Error: ", "Usage: ", or the spaces in front.
    private static func head(of line: Substring) -> Int {
        for word in ["Error:", "Usage:", "Help:"] where line.hasPrefix(word) {
            return word.count + line.dropFirst(word.count).prefix { $0 == " " }.count
        }
        return line.prefix { $0 == " " }.count
    }
}

/// The program's arguments without its name.
enum ProgramArguments {
    /// Read from the C library, else from the kernel, and not from `CommandLine`, which looks like a call
    /// without any, `reach status`, if it finds none; nil without either.
    static var own: [String]? {
        let count = Int(cruntime_argument_count())
        guard count > 0, let words = cruntime_arguments() else {
            return fromKernel("/proc/self/cmdline").map { Array($0.dropFirst()) }
        }
        return (1..<max(1, count)).compactMap { words[$0].map { String(cString: $0) } }
    }

    /// The words of a file such as /proc/self/cmdline (proc_pid_cmdline(5)): each ends with a NUL.
    static func fromKernel(_ path: String) -> [String]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var (bytes, buffer): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 1 << 16))
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += buffer.prefix(count)
        }
        guard bytes.last == 0 else { return nil }
        return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
