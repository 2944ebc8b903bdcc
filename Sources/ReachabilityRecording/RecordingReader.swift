// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Reads the lines of ``RecordingWriter``; safe on any input.
///
/// An item can have indented lines, so it is returned with the first line of the next item, or by
/// ``finish()``. Memory is bounded: one item, and the last answer to each of ``knownLimit`` questions.
package struct RecordingReader: Sendable {
    /// The longest line in bytes.
    package static let lineLimit = 1 << 16
    /// The maximum number of lines of an item.
    package static let itemLimit = 1 << 20
    /// The maximum number of questions whose last answer is stored for `same`.
    package static let knownLimit = 1 << 17

    /// The header, once its lines are read.
    package private(set) var header: RecordingHeader?
    private var lines = 0
    private var isVersionRead = false
    private var isTimingRead = false
    private var open: OpenItem?
    private var known: [KernelQuestion: KernelAnswer] = [:]

    package init() {}

    /// Reads one line, without its line feed.
    ///
    /// - Returns: The item that ended before this line; nil if none did.
    package mutating func read(_ line: String) throws(RecordingError) -> RecordedItem? {
        lines += 1
        do throws(LineWords.Problem) {
            guard line.utf8.count <= Self.lineLimit else { throw LineWords.Problem("the line is too long") }
            return try parse(line[...])
        } catch {
            throw RecordingError(line: lines, problem: error.text)
        }
    }

    /// The same for a line as bytes.
    package mutating func read(bytes: some Sequence<UInt8>) throws(RecordingError) -> RecordedItem? {
        guard let line = String(validating: bytes, as: UTF8.self) else {
            lines += 1
            throw RecordingError(line: lines, problem: "the line is not UTF-8 text")
        }
        return try read(line)
    }

    /// The last item, after the last line.
    package mutating func finish() throws(RecordingError) -> RecordedItem? {
        guard header != nil else {
            throw RecordingError(line: max(1, lines), problem: "the file ends before the recording begins")
        }
        do throws(LineWords.Problem) { return try finishOpen() } catch {
            throw RecordingError(line: lines, problem: error.text)
        }
    }

    private mutating func parse(_ line: Substring) throws(LineWords.Problem) -> RecordedItem? {
        let text = line.drop { $0 == " " }
        if text.isEmpty || text.first == "#" { return nil }
        var words = LineWords(text)
        guard isVersionRead else {
            try readVersion(&words)
            return nil
        }
        guard let header else {
            guard words.consume("start") else {
                throw LineWords.Problem("the line 'start wall=…' is missing")
            }
            self.header = try Self.header(&words)
            return nil
        }
        if !isTimingRead, words.consume("timing") {
            isTimingRead = true
            self.header?.configuration.timing = try Self.timing(&words)
            return nil
        }
        if text.startIndex != line.startIndex {
            guard open != nil else {
                throw LineWords.Problem("an indented line belongs to an item, and there is none above")
            }
            try open?.add(&words, known: &known)
            return nil
        }
        let ended = try finishOpen()
        isTimingRead = true
        open = try OpenItem(&words, start: header.start)
        return ended
    }

    private mutating func readVersion(_ words: inout LineWords) throws(LineWords.Problem) {
        guard words.consume("reach-recording") else {
            throw LineWords.Problem("this is not a recording: its first line should be 'reach-recording 1'")
        }
        let version: Int = try LineWords.number(try words.next("the version"), "version")
        guard version == RecordingHeader.version else {
            throw LineWords.Problem(
                "the recording has version \(version); this program reads version \(RecordingHeader.version)")
        }
        try words.finish()
        isVersionRead = true
    }

    private mutating func finishOpen() throws(LineWords.Problem) -> RecordedItem? {
        guard let item = open else { return nil }
        open = nil
        return try item.finished(known: &known)
    }
}

extension RecordingReader {
    static func header(_ words: inout LineWords) throws(LineWords.Problem) -> RecordingHeader {
        let wallText = try words.required("wall", try words.value("wall"))
        guard let wall = WallTime(String(wallText)) else {
            throw LineWords.Problem(
                "wall: '\(LineWords.shown(wallText))' is not a time like 2026-01-02T03:04:05.678Z")
        }
        let monotonic: Int64 = try words.number("monotonic") ?? 0
        var header = RecordingHeader(start: MonotonicInstant(nanoseconds: monotonic), wall: wall)
        header.host = try words.text("host")
        if let family = try words.value("family") { header.configuration.family = try words.family(family) }
        header.configuration.mark = try words.number("mark") ?? 0
        header.configuration.user = try words.number("uid")
        if let port: UInt16 = try words.number("port") { header.configuration.port = port }
        header.configuration.requirement = try words.text("via").map { NetworkRequirement($0) }
        if let sentinels = try words.value("sentinels") {
            var addresses: [IPAddress] = []
            for part in sentinels.split(separator: ",") { addresses.append(try LineWords.address(part)) }
            guard addresses.count <= 64 else { throw LineWords.Problem("there are more than 64 sentinels") }
            header.configuration.sentinels = addresses
        }
        header.configuration.expensiveInterfaces = Set(try texts("expensive", &words))
        header.configuration.metered = try costs("metered", &words)
        header.configuration.meteredNetworks = try costs("networks", &words)
        header.configuration.constrainedInterfaces = Set(try texts("constrained", &words))
        header.configuration.reportsLinks = words.flag("links")
        try words.finish()
        return header
    }

    private static func texts(
        _ key: String, _ words: inout LineWords
    ) throws(LineWords.Problem) -> [String] {
        var texts: [String] = []
        for part in try words.value(key)?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            texts.append(try LineWords.text(part, key))
        }
        return texts
    }

    private static func costs(
        _ key: String, _ words: inout LineWords
    ) throws(LineWords.Problem) -> [String: Metered] {
        let texts = try texts(key, &words)
        if let wrong = texts.first(where: { Metered.assignment($0) == nil }) {
            throw LineWords.Problem("\(key): '\(LineWords.shown(wrong[...]))' is not like wwan0=yes")
        }
        return Metered.assignments(texts)
    }

    static func timing(_ words: inout LineWords) throws(LineWords.Problem) -> ReachabilityTiming {
        var timing = ReachabilityTiming()
        for (word, path) in ReachabilityTiming.durations {
            if let duration = try words.duration(word) { timing[keyPath: path] = duration }
        }
        if let threshold: Int = try words.number("dampingThreshold") { timing.dampingThreshold = threshold }
        for (word, path) in ReachabilityTiming.intervals { timing[keyPath: path] = try words.duration(word) }
        try words.finish()
        return timing
    }
}

/// Splits a stream of bytes into lines, regardless of its pieces.
package struct LineSplitter: Sendable {
    private var rest: [UInt8] = []

    package init() {}

    /// Adds a piece and passes each complete line on without its line feed; a line above the limit of
    /// ``RecordingReader`` is passed on incomplete, and the reader rejects it.
    package mutating func split<Failure: Error>(
        _ piece: some Sequence<UInt8>, _ body: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        for byte in piece {
            if byte == UInt8(ascii: "\n") || rest.count > RecordingReader.lineLimit {
                let line = rest
                rest.removeAll(keepingCapacity: true)
                try body(line)
                if byte == UInt8(ascii: "\n") { continue }
            }
            rest.append(byte)
        }
    }

    /// The last line if it has no line feed; nil if there is none.
    package mutating func finish() -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        defer { rest = [] }
        return rest
    }
}
