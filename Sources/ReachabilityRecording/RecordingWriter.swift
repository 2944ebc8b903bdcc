// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Writes the inputs of a monitor as text: one line for each event and each of the kernel's answers.
///
/// A line that begins with a time starts an item; its indented lines belong to it. An answer equal to the
/// previous one to the same question is written `same`, so that changes stand out. ``RecordingReader`` reads
/// the text.
package struct RecordingWriter: Sendable {
    private let start: MonotonicInstant
    private var known: [KernelQuestion: KernelAnswer] = [:]

    /// A writer for the recording that `header` begins.
    package init(_ header: RecordingHeader) { start = header.start }

    package static func write(_ header: RecordingHeader, to line: inout TextLine) {
        line.append("reach-recording ")
        line.append(RecordingHeader.version)
        line.append("\nstart wall=")
        header.wall.append(to: &line, digits: 9)
        line.key("monotonic", header.start.nanoseconds)
        line.key("host", escaped: header.host)
        let configuration = header.configuration
        if let family = configuration.family { line.key("family", escaped: family.rawValue) }
        if configuration.mark != 0 { line.key("mark", configuration.mark) }
        if let user = configuration.user { line.key("uid", user) }
        if configuration.port != ReachabilityConfiguration().port { line.key("port", configuration.port) }
        if let requirement = configuration.requirement {
            line.key("via", escaped: requirement.description)
        }
        line.key("sentinels")
        line.list(configuration.sentinels) { $0.append($1) }
        for (word, texts) in [
            ("expensive", Array(configuration.expensiveInterfaces)),
            ("metered", configuration.metered.map { "\($0)=\($1)" }),
            ("networks", configuration.meteredNetworks.map { "\($0)=\($1)" }),
            ("constrained", Array(configuration.constrainedInterfaces)),
        ] where !texts.isEmpty {
            line.key(word)
            line.list(texts.sorted()) { $0.append(escaping: $1) }
        }
        if configuration.reportsLinks { line.append(" links") }
        line.append("\ntiming")
        let timing = configuration.timing
        for (word, path) in ReachabilityTiming.durations {
            line.key(word)
            line.append(timing[keyPath: path])
        }
        line.key("dampingThreshold", timing.dampingThreshold)
        for (word, path) in ReachabilityTiming.intervals {
            guard let interval = timing[keyPath: path] else { continue }
            line.key(word)
            line.append(interval)
        }
        line.append("\n")
    }

    package mutating func write(_ item: RecordedItem, to line: inout TextLine) {
        let offset = item.instant.nanoseconds &- start.nanoseconds
        line.append(offset < 0 ? "-" : "+")
        line.append(offset.magnitude / 1_000_000_000)
        line.append(".")
        line.append(Int64(offset.magnitude % 1_000_000_000), digits: 9)
        switch item {
        case .events(let events, _):
            line.append(" event")
            for (position, event) in events.enumerated() {
                line.append(position == 0 ? " " : "\n  event ")
                line.append(event)
            }
        case .evaluated(let snapshot, _, let took):
            line.append(" evaluated took=")
            line.append(took)
            for entry in snapshot.entries { write(entry, to: &line) }
        case .unanswered(let error, _):
            line.append(" unanswered")
            line.key("code", escaped: error.code.rawValue)
            line.key("errno", error.errno)
            line.key("context", escaped: error.context)
            line.key("advice", escaped: error.advice)
        case .elapsed: line.append(" elapsed")
        case .resolved(let destinations, _):
            line.append(" resolved")
            for destination in destinations {
                line.append("\n  destination ")
                line.append(destination.address)
                line.key("zone", escaped: destination.zone)
            }
        case .unresolved(.temporary(let sentence), _):
            line.append(" unresolved temporary")
            line.key("reason", escaped: sentence)
        case .unresolved(.noSuchName(let sentence), _):
            line.append(" unresolved")
            line.key("reason", escaped: sentence)
        case .clockSet(let wall, _):
            line.append(" clock wall=")
            wall.append(to: &line, digits: 9)
        case .stopped: line.append(" stopped")
        }
        line.append("\n")
    }

    private mutating func write(_ entry: Snapshot.Entry, to line: inout TextLine) {
        line.append("\n  answer ")
        line.append(entry.question)
        line.append(" => ")
        guard known[entry.question] != entry.answer else { return line.append("same") }
        known[entry.question] = entry.answer
        line.append(entry.answer)
        switch entry.answer {
        case .links(let links):
            for link in links {
                line.append("\n    link")
                line.append(link)
            }
        case .addresses(let addresses):
            for address in addresses {
                line.append("\n    address")
                line.append(address)
            }
        default: break
        }
    }
}
