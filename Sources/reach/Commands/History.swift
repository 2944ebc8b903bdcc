// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EventLoop
import FoundationEssentials
import Glibc
import Reachability
import Service
import ServiceCore
import SessionCore
import Storage

/// `reach history`: shows the history that the service has stored.
struct History: ParsableCommand {
    static let configuration = CommandConfiguration(
        _superCommandName: Reach.name,
        abstract: "Print when the network could be reached, as far as the service saw it.",
        discussion: """
            Availability is the reachable part of the time in which the service ran and could tell; a flap is an outage that was over \
            within a minute. Time without a service is shown by itself and does not count. A user who may not read the file gets what the running \
            service answers. Exit code 0; 66 where there is no history.
            """)

    @Option(
        name: .customLong("since"),
        help: ArgumentHelp(
            "From when on: so long ago (90m, 24h, 7d), or a time in RFC 3339.", valueName: "time"),
        transform: HistoryTime.init)
    var since = HistoryTime.ago(.seconds(86_400))

    @Option(
        name: .customLong("until"), help: ArgumentHelp("Until when. (default: now)", valueName: "time"),
        transform: HistoryTime.init)
    var until: HistoryTime?

    @Option(
        name: .customLong("state-directory"),
        help: ArgumentHelp(
            "Where the service keeps its history. (default: \(ServicePaths.stateDirectory))",
            valueName: "directory"))
    var givenDirectory: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        let (from, to) = period
        guard from < to else {
            throw ValidationError("--since has to be before --until, and not in the future.")
        }
    }

    private var period: (from: WallTime, to: WallTime) {
        let now = Clock.wall
        return (since.moment(now), min(now, until?.moment(now) ?? now))
    }

    func run() throws {
        let (from, to) = period
        let timeline = try timeline(from, to)
        if output.json {
            let periods = HistoryPeriods(from: from, to: to, zone: LocalTime.here).periods.map {
                HistorySummary(timeline, from: max($0.from, from), to: min($0.to, to))
            }
            var line = TextLine()
            HistoryJSON.write(timeline, periods: periods, to: &line)
            try StandardStream.output.write(line.bytes).check()
        } else {
            try StandardStream.output.write(HistoryView(timeline, zone: LocalTime.here, output.style).text)
                .check()
        }
    }

    private func timeline(_ from: WallTime, _ to: WallTime) throws(ExitCode) -> HistoryTimeline {
        guard let directory = givenDirectory ?? OutboxLocation.stateDirectory else {
            if let timeline = try ServiceHistory.timeline(from: from, to: to) { return timeline }
            complain(
                "no service answers at \(OutboxLocation.socket), which \(ServicePaths.socketVariable) names; start it, or name the folder of its history by --state-directory"
            )
            throw .noInput
        }
        let path = directory + "/" + HistoryDatabase.fileName
        guard access(path, R_OK) == 0 else {
            let number = errno
            if givenDirectory == nil, let timeline = try ServiceHistory.timeline(from: from, to: to) {
                return timeline
            }
            let advice =
                number == EACCES
                ? "ask as root or as the service's user; a running service answers every user"
                : "'reach serve' keeps a history; --state-directory names another folder"
            complain("\(path): \(String(cString: strerror(number))); \(advice)")
            throw .noInput
        }
        do throws(StorageError) {
            // Even for reading SQLite makes an index of the log, which has to belong to the folder's owner.
            try FolderRights.needed(in: directory)?.assume()
            let database = try HistoryDatabase(reading: path)
            let isRunning = HistoryLock.isHeld(beside: path)
            return try database.timeline(
                from: from, to: to, running: isRunning ? try database.lastRun()?.id : nil)
        } catch {
            complain(error.description)
            throw error.kind == .missingLibrary ? .unavailable : .inputOutput
        }
    }
}

/// A moment as an option: a time ago, or by the clock.
enum HistoryTime: Sendable, Equatable {
    case ago(Duration)
    case at(WallTime)

    init(_ text: String) throws {
        if let duration = DurationText.duration(text), duration > .zero {
            self = .ago(duration)
        } else if let time = WallTime(text) {
            self = .at(time)
        } else {
            throw ValidationError(
                "give a length of time such as 90m, 24h or 7d, or a time such as 2026-01-02T03:04:05Z.")
        }
    }

    func moment(_ now: WallTime) -> WallTime {
        switch self {
        case .ago(let duration): now.moved(by: -duration.inNanoseconds)
        case .at(let time): time
        }
    }
}

extension HistoryTime: CustomStringConvertible {
    var description: String {
        switch self {
        case .ago(let duration): DurationText.text(duration)
        case .at(let time): time.text
        }
    }
}

extension ExitCode {
    /// There is no such file (EX_NOINPUT, sysexits.h).
    static let noInput = ExitCode(66)
}

/// Client for a running service's history, for users without read access to its file.
enum ServiceHistory {
    /// Reading a long history from a slow disk takes long.
    private static let patience: Int64 = 30_000_000_000

    /// Nil if no service answers; prints a message after a moment of waiting.
    ///
    /// - Throws: the exit code of a service that has no answer, after its reason is printed.
    static func timeline(from: WallTime, to: WallTime) throws(ExitCode) -> HistoryTimeline? {
        let socket = OutboxLocation.socket
        guard !socket.isEmpty else { return nil }
        let waiting = WaitingMessage("waiting for the service at \(socket)")
        let message = message(from, socket)
        waiting.end()
        guard let message, let reply = try? JSONValue(parsing: Data(message)) else { return nil }
        if let error = reply["error"]?.string {
            let reason = reply["parameters"]?["reason"]?.string ?? error
            complain("\(socket): \(reason)")
            throw reason == VarlinkReply.noHistoryReason ? .noInput : .inputOutput
        }
        guard let periods = reply["parameters"]?["periods"]?.array else { return nil }
        // A service of an older version tells nothing of the internet.
        let lines = reply["parameters"]?["lines"]?.array ?? []
        return HistoryTimeline(
            periods: (periods + lines).compactMap { HistoryPeriod($0) }, from: from, to: to)
    }

    private static func message(_ from: WallTime, _ socket: String) -> [UInt8]? {
        let limit = Reactor.now + patience
        do throws(ServiceError) {
            var client = try VarlinkClient(path: socket, until: limit)
            let parameters: [String: JSONValue] = ["since": .string(from.text), "limit": 10_000]
            try client.send(VarlinkCall(ServiceInterface.name + ".GetHistory", parameters), until: limit)
            return try client.receive(until: limit)
        } catch { return nil }
    }
}
