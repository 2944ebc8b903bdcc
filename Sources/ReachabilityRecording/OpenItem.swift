// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

/// An item of a recording whose indented lines are not all read yet.
struct OpenItem: Sendable {
    private enum Content: Sendable {
        case events([NetworkEvent])
        case evaluated(Snapshot, took: Duration)
        case resolved([ReachabilityDestination])
        case complete(RecordedItem)
    }

    /// An answer with its members on lines of their own.
    private enum OpenList: Sendable {
        case links(KernelQuestion, [LinkState], count: Int)
        case addresses(KernelQuestion, [InterfaceAddress], count: Int)
    }

    private let instant: MonotonicInstant
    private var content: Content
    private var list: OpenList?
    private var lines = 1

    /// Reads the first line of an item.
    init(_ words: inout LineWords, start: MonotonicInstant) throws(LineWords.Problem) {
        let stamp = try words.next("the time")
        guard let sign = stamp.first, sign == "+" || sign == "-" else {
            throw LineWords.Problem(
                "a line begins with a time like +0.000123, not with '\(LineWords.shown(stamp))'")
        }
        let offset = try LineWords.duration(sign == "+" ? stamp.dropFirst() : stamp, "time").inNanoseconds
        instant = MonotonicInstant(nanoseconds: start.nanoseconds &+ offset)
        let word = try words.next("what happened")
        content = try Self.content(word, &words, at: instant)
        try words.finish()
    }

    private static func content(
        _ word: Substring, _ words: inout LineWords, at instant: MonotonicInstant
    ) throws(LineWords.Problem) -> Content {
        switch word {
        case "event": return .events(words.isAtEnd ? [] : [try words.event()])
        case "evaluated": return .evaluated(Snapshot(), took: try words.duration("took") ?? .zero)
        case "unanswered":
            let error = ReachabilityError(
                ReachabilityError.Code(rawValue: try words.text("code") ?? "timedOut"),
                errno: try words.number("errno") ?? 0, context: try words.text("context") ?? "",
                advice: try words.text("advice") ?? "")
            return .complete(.unanswered(error, at: instant))
        case "elapsed": return .complete(.elapsed(at: instant))
        case "resolved": return .resolved([])
        case "unresolved":
            let isTemporary = words.flag("temporary")
            let sentence = try words.text("reason") ?? ""
            return .complete(
                .unresolved(isTemporary ? .temporary(sentence) : .noSuchName(sentence), at: instant))
        case "clock":
            let text = try words.required("wall", try words.value("wall"))
            guard let wall = WallTime(String(text)) else {
                throw LineWords.Problem("wall: '\(LineWords.shown(text))' is not a time")
            }
            return .complete(.clockSet(wall, at: instant))
        case "stopped": return .complete(.stopped(at: instant))
        default: throw LineWords.Problem("there is no item '\(LineWords.shown(word))'")
        }
    }

    /// Reads an indented line.
    mutating func add(
        _ words: inout LineWords, known: inout [KernelQuestion: KernelAnswer]
    ) throws(LineWords.Problem) {
        lines += 1
        guard lines <= RecordingReader.itemLimit else {
            throw LineWords.Problem("the item has too many lines")
        }
        let word = try words.next("a word")
        // Takes the content out and stores it back, so that its array has one reference and is not copied.
        switch content {
        case .events(var events) where word == "event":
            content = .events([])
            events.append(try words.event())
            content = .events(events)
        case .resolved(var destinations) where word == "destination":
            let address = try LineWords.address(try words.next("an address"))
            destinations.append(ReachabilityDestination(address, zone: try words.text("zone")))
            content = .resolved(destinations)
        case .evaluated where word == "answer":
            try closeList(&known)
            try addAnswer(&words, &known)
        case .evaluated where word == "link" || word == "address":
            try addMember(word, &words)
        default: throw LineWords.Problem("'\(LineWords.shown(word))' does not belong to the item above")
        }
        try words.finish()
    }

    private mutating func addAnswer(
        _ words: inout LineWords, _ known: inout [KernelQuestion: KernelAnswer]
    ) throws(LineWords.Problem) {
        let question = try words.question()
        if words.consume("same") {
            guard let answer = known[question] else {
                throw LineWords.Problem("'same', but there is no earlier answer to this question")
            }
            return add(question, answer)
        }
        switch try words.answer() {
        case .single(let answer): try store(question, answer, &known)
        case .links(let count): list = .links(question, [], count: count)
        case .addresses(let count): list = .addresses(question, [], count: count)
        }
    }

    private mutating func addMember(_ word: Substring, _ words: inout LineWords) throws(LineWords.Problem) {
        switch list {
        case .links(let question, var links, let count) where word == "link" && links.count < count:
            list = nil
            links.append(try words.link())
            list = .links(question, links, count: count)
        case .addresses(let question, var addresses, let count)
        where word == "address" && addresses.count < count:
            list = nil
            addresses.append(try words.interfaceAddress())
            list = .addresses(question, addresses, count: count)
        default: throw LineWords.Problem("'\(word)' has no list above that it belongs to")
        }
    }

    /// Stores a list that is complete.
    private mutating func closeList(_ known: inout [KernelQuestion: KernelAnswer]) throws(LineWords.Problem) {
        switch list {
        case nil: return
        case .links(let question, let links, let count):
            guard links.count == count else { throw Self.short(links.count, count, "links") }
            try store(question, .links(links), &known)
        case .addresses(let question, let addresses, let count):
            guard addresses.count == count else { throw Self.short(addresses.count, count, "addresses") }
            try store(question, .addresses(addresses), &known)
        }
        list = nil
    }

    private static func short(_ found: Int, _ count: Int, _ what: String) -> LineWords.Problem {
        LineWords.Problem("only \(found) of \(count) \(what) are there")
    }

    private mutating func store(
        _ question: KernelQuestion, _ answer: KernelAnswer, _ known: inout [KernelQuestion: KernelAnswer]
    ) throws(LineWords.Problem) {
        guard known[question] != nil || known.count < RecordingReader.knownLimit else {
            throw LineWords.Problem("the recording asks too many different questions")
        }
        known[question] = answer
        add(question, answer)
    }

    private mutating func add(_ question: KernelQuestion, _ answer: KernelAnswer) {
        guard case .evaluated(var snapshot, let took) = content else { return }
        content = .events([])
        snapshot.add(question, answer)
        content = .evaluated(snapshot, took: took)
    }

    /// The item after its last line.
    consuming func finished(known: inout [KernelQuestion: KernelAnswer]) throws(LineWords.Problem)
        -> RecordedItem
    {
        try closeList(&known)
        return switch content {
        case .events(let events): .events(events, at: instant)
        case .evaluated(let snapshot, let took): .evaluated(snapshot, at: instant, took: took)
        case .resolved(let destinations): .resolved(destinations, at: instant)
        case .complete(let item): item
        }
    }
}
