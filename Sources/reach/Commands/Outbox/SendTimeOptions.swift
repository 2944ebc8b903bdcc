// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Outbox
import ReachabilityCore
import ServiceCore

/// When the request leaves, what it replaces, and by what it is found.
struct SendTimeOptions: ParsableArguments {
    @Option(
        name: .customLong("replaces"),
        help: ArgumentHelp(
            "Work of which only the newest matters: it takes the place of what waits with this name, which belongs to one lane.",
            valueName: "name"))
    var name: String?

    @Flag(name: .customLong("keep"), help: "With --replaces: what waits stays, and this is not stored.")
    var keeps = false

    @Option(
        name: .customLong("tag"),
        help: ArgumentHelp("Give it this tag, by which entries are listed and removed.", valueName: "name"))
    var tags: [String] = []

    @Option(
        name: .customLong("not-before"),
        help: ArgumentHelp(
            "Send it at this time (RFC 3339) or after so long (+90m, +12h) at the earliest; its lane does not wait for it.",
            valueName: "time"), transform: GivenTime.init)
    var start: GivenTime?

    @Option(
        name: .customLong("window"),
        help: ArgumentHelp(
            "Send it at this time of day, by local time, 'mon-fri 22:00-06:00' on these days; its lane waits with it.",
            valueName: "HH:MM-HH:MM"), transform: Value.window)
    var window: OutboxWindow?

    @Option(
        name: .customLong("spread"),
        help: ArgumentHelp(
            "Add a random part of this to --not-before and to each opening of --window (30m).",
            valueName: "duration"), transform: Value.duration)
    var spread: Duration?

    @Option(
        name: .customLong("every"),
        help: ArgumentHelp(
            "Send it again each time so long after the last (15m, 24h), until it is replaced or removed; needs --replaces.",
            valueName: "duration"), transform: Value.duration)
    var every: Duration?

    @Option(
        name: .customLong("gate"),
        help: ArgumentHelp(
            "Let it and its lane wait while this gate is held ('reach queue hold').", valueName: "name"))
    var gates: [String] = []

    func validate() throws {
        if keeps, name == nil { throw ValidationError("--keep needs --replaces.") }
        if every != nil, name == nil { throw ValidationError("--every needs --replaces.") }
    }

    func apply(to request: inout OutboxRequest) {
        request.replaces = name
        request.unique = keeps ? .keep : .replace
        request.tags = Set(tags)
        request.notBefore = start?.date(from: Date())
        request.window = window
        request.spread = spread ?? .zero
        request.every = every
        request.gates = Set(gates)
    }
}

/// A time of the future: `+90m`, or in RFC 3339.
enum GivenTime {
    case after(Duration)
    case at(WallTime)

    init(_ text: String) throws {
        if text.hasPrefix("+"), let duration = DurationText.duration(String(text.dropFirst())) {
            self = .after(duration)
        } else if let time = WallTime(text) {
            self = .at(time)
        } else {
            throw ValidationError("give a time such as 2026-03-01T02:00:00Z, or +90m.")
        }
    }

    func date(from now: Date) -> Date {
        switch self {
        case .after(let duration): now + duration / .seconds(1)
        case .at(let time): Date(timeIntervalSince1970: Double(time.nanoseconds) / 1e9)
        }
    }
}

extension Value {
    /// A time of day.
    static func window(_ text: String) throws -> OutboxWindow {
        guard let window = OutboxWindow(text) else {
            throw ValidationError("give a time of day such as 22:00-06:00, or 'sat,sun 00:00-24:00'.")
        }
        return window
    }

    /// A length of time with its unit.
    static func duration(_ text: String) throws -> Duration {
        guard let duration = DurationText.duration(text) else {
            throw ValidationError("give a length of time such as 90s, 15m, 24h or 7d.")
        }
        return duration
    }
}
