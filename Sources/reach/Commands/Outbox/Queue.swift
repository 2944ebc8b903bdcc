// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Outbox
import Reachability

/// `reach queue`: lists and changes the entries of the outbox.
struct Queue: ParsableCommand {
    static let configuration = CommandConfiguration(
        _superCommandName: Reach.name,
        abstract: "List what waits in the outbox, and what could not be delivered; try again, remove, pause.",
        discussion: """
            It works on the files of the service that runs, or was the last, also while the service or a program delivers from them; \
            pause, resume, flush, hold, release and gates are the service's where one runs. REACH_SOCKET names another service, and no files are \
            looked at where that does not answer. Exit codes: 0 done; \
            1 there is no such entry; 64 wrong usage; 66 there is no outbox; 69 SQLite is missing; 74 the outbox cannot be read or written.
            """,
        subcommands: [
            QueueList.self, QueueShow.self, QueueRetry.self, QueueRemove.self, QueuePause.self,
            QueueResume.self, QueueFlush.self, QueueHold.self, QueueRelease.self, QueueGates.self,
        ],
        defaultSubcommand: QueueList.self)
}

extension Value {
    /// The state of an entry.
    static func entryState(_ text: String) throws -> OutboxEntry.State {
        guard let state = OutboxEntry.State(rawValue: text) else {
            throw ValidationError("give waiting, scheduled or dead.")
        }
        return state
    }

    /// The number of an entry.
    static func entry(_ text: String) throws -> OutboxID {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(text), number > 0 else {
            throw ValidationError("give an entry's number, as 'reach queue list' prints it.")
        }
        return OutboxID(rawValue: number)
    }
}

struct QueueList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the entries, the oldest first.")

    @OptionGroup var outbox: OutboxOptions
    @OptionGroup var output: OutputOptions

    @Option(
        name: .customLong("state"),
        help: ArgumentHelp("Only those: waiting, scheduled or dead.", valueName: "state"),
        transform: Value.entryState)
    var state: OutboxEntry.State?

    @OptionGroup var choice: QueueChoice

    @Option(
        name: .customLong("after"),
        help: ArgumentHelp("Only later ones than this.", valueName: "number"), transform: Value.entry)
    var after: OutboxID?

    @Option(
        name: .customLong("limit"), help: ArgumentHelp("The most entries.", valueName: "n"),
        transform: Value.count)
    var limit = 100

    func run() throws {
        let (after, limit) = (after, limit)
        var selection = choice.selection
        selection.state = state
        let (counts, entries) = try outbox.run { [selection] outbox in
            (
                try await outbox.counts(),
                try await outbox.entries(selection, after: after, limit: limit)
            )
        }
        guard output.json else {
            let text = OutboxText.list(counts, entries, now: Clock.wall, output.style)
            return try StandardStream.output.write(text).check()
        }
        var line = TextLine()
        OutboxJSON.write(counts, entries, to: &line)
        try StandardStream.output.write(line.bytes).check()
    }
}

struct QueueShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show an entry, and what the server said to it.")

    @OptionGroup var outbox: OutboxOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: ArgumentHelp("The entry's number.", valueName: "number"), transform: Value.entry)
    var id: OutboxID

    func run() throws {
        let id = id
        let (entry, reply) = try outbox.run { outbox in
            (try await outbox.entry(id), try await outbox.reply(to: id))
        }
        guard let entry else {
            complain("there is no entry \(id); 'reach queue list' lists them")
            throw ExitCode.failure
        }
        guard output.json else {
            return try StandardStream.output.write(OutboxText.show(entry, reply, output.style)).check()
        }
        var line = TextLine()
        OutboxJSON.write(entry, reply, to: &line)
        try StandardStream.output.write(line.bytes).check()
    }
}

struct QueueRetry: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Let dead letters wait again, at their old places.")

    @OptionGroup var outbox: OutboxOptions

    @Argument(
        help: ArgumentHelp("The entries' numbers; none for all.", valueName: "number"), transform: Value.entry
    )
    var ids: [OutboxID] = []

    @Flag(name: .customLong("all"), help: "All, or all of these choices.")
    var all = false

    @OptionGroup var choice: QueueChoice

    func validate() throws { try choice.check(ids, all: all, isNeeded: false) }

    func run() throws {
        let (ids, selection) = (ids, choice.selection)
        let done = try outbox.run { outbox in
            try await ids.isEmpty ? outbox.retry(selection) : outbox.retry(ids)
        }
        try QueueChange.report(done, of: ids, "a dead letter, or a newer one of its name waits")
    }
}

struct QueueRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove entries; what is on its way at this moment may arrive all the same.")

    @OptionGroup var outbox: OutboxOptions

    @Argument(help: ArgumentHelp("The entries' numbers.", valueName: "number"), transform: Value.entry)
    var ids: [OutboxID] = []

    @Flag(name: .customLong("all"), help: "All, or all of these choices.")
    var all = false

    @Option(
        name: .customLong("state"),
        help: ArgumentHelp("Only those: waiting, scheduled or dead.", valueName: "state"),
        transform: Value.entryState)
    var state: OutboxEntry.State?

    @OptionGroup var choice: QueueChoice

    func validate() throws {
        try choice.check(ids, all: all || state != nil, isNeeded: true)
        if state != nil, !ids.isEmpty { throw ValidationError("give numbers or choices, not both.") }
    }

    func run() throws {
        let ids = ids
        var selection = choice.selection
        selection.state = state
        let done = try outbox.run { [selection] outbox in
            try await ids.isEmpty ? outbox.remove(selection) : outbox.remove(ids)
        }
        try QueueChange.report(done, of: ids, "in the outbox")
    }
}

/// Which entries are meant, without their numbers.
struct QueueChoice: ParsableArguments {
    @Option(name: .customLong("lane"), help: ArgumentHelp("Only those of this lane.", valueName: "name"))
    var lane: String?

    @Option(name: .customLong("tag"), help: ArgumentHelp("Only those with this tag.", valueName: "name"))
    var tag: String?

    @Option(
        name: .customLong("status"),
        help: ArgumentHelp("Only those whose last failure had this status, such as 404.", valueName: "code"),
        transform: Value.count)
    var status: Int?

    var selection: OutboxSelection { OutboxSelection(lane: lane, tag: tag, statusCode: status) }
    private var isSet: Bool { lane != nil || tag != nil || status != nil }

    func check(_ ids: [OutboxID], all: Bool, isNeeded: Bool) throws {
        if !ids.isEmpty, all || isSet { throw ValidationError("give numbers or choices, not both.") }
        guard isNeeded, ids.isEmpty, !all, !isSet else { return }
        throw ValidationError("give the entries' numbers, --lane, --tag, --status, or --all.")
    }
}

struct QueuePause: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Let nothing more leave, until 'resume'.")
    @OptionGroup var outbox: OutboxOptions
    func run() throws {
        // Pausing makes a missing outbox, so that the pause holds for later requests.
        try OutboxOptions.run(at: outbox.location(), makes: true) { try await $0.pause() }
    }
}

struct QueueResume: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "End the pause.")
    @OptionGroup var outbox: OutboxOptions
    func run() throws { try OutboxOptions.run(at: outbox.location()) { try await $0.resume() } }
}

struct QueueFlush: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flush", abstract: "Have what waits for its next try sent as soon as its turn comes.")
    @OptionGroup var outbox: OutboxOptions
    func run() throws { try OutboxOptions.run(at: outbox.location()) { try await $0.flush() } }
}

enum QueueChange {
    /// Prints the changed entries, one a line, and a message for each that was not.
    static func report(_ done: [OutboxID], of ids: [OutboxID], _ what: String) throws {
        try StandardStream.output.write(done.map { "\($0)\n" }.joined()).check()
        let missing = ids.filter { !done.contains($0) }
        guard !missing.isEmpty else { return }
        for id in missing { complain("\(id) is not \(what)") }
        throw ExitCode.failure
    }
}
