// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

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
        if let sentinels = try words.value("sentinels") {
            var addresses: [IPAddress] = []
            for part in sentinels.split(separator: ",") { addresses.append(try LineWords.address(part)) }
            guard addresses.count <= 64 else { throw LineWords.Problem("there are more than 64 sentinels") }
            header.configuration.sentinels = addresses
        }
        if let names = try words.value("expensive") {
            for part in names.split(separator: ",", omittingEmptySubsequences: false) {
                header.configuration.expensiveInterfaces.insert(try LineWords.text(part, "expensive"))
            }
        }
        header.configuration.reportsLinks = words.flag("links")
        try words.finish()
        return header
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
