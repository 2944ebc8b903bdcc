// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
import SessionCore

/// A change of the status, of the path or of the internet, as a log record tells it.
package struct TelemetryChange: Sendable {
    package let record: HistoryRecord
    /// The sentence for people.
    package let sentence: String
    package let priority: LogPriority
    /// The former status; nil where it is unknown, or did not change.
    package let previous: ReachabilityStatus?

    package var boot: Int64 { record.boot }

    /// A change of status or path.
    package init(_ change: CommittedChange, boot: Int64) {
        record = HistoryRecord(change, run: 0, boot: boot)
        sentence = ChangeSentence.text(change)
        priority = ChangeSentence.priority(change)
        previous = change.event == .status ? change.previous : nil
    }

    /// A change of what was found behind an uplink, or behind the path in use.
    package init(internet record: HistoryRecord) {
        self.record = record
        let state = record.internet ?? .unknown
        let uplink = record.interface.map { " on \($0)" } ?? ""
        let reason = record.reason.isEmpty ? state.explanation : record.reason
        sentence = SafeText.clean("internet\(uplink) \(state): \(reason)", unicode: true)
        priority = state == .limited || state == .portal ? .warning : .notice
        previous = nil
    }
}

/// Samples and changes with times of the wall clock; what one entry of the outbox holds.
package struct TelemetryBatch: Sendable {
    package let metrics: [TelemetryLog.Metric]
    /// The number of the first sample.
    package let first: Int
    /// The time of each sample, increasing; nanoseconds since 1970.
    package let times: [Int64]
    /// Since when the counters count.
    package let start: Int64
    package let changes: [(change: TelemetryChange, time: Int64)]
    /// The number of changes up to the last one, counted from the start.
    let changesEnd: Int

    /// The time of a point; nanoseconds since 1970.
    func time(_ point: TelemetryLog.Point) -> Int64 {
        let index = point.sample - first
        return times.indices.contains(index) ? times[index] : 0
    }
}

/// The program and the device that samples come from.
package struct TelemetryResource: Sendable, Equatable {
    package var version: String
    package var host: String
    /// Nil for a machine without an ID.
    package var id: DeviceID?

    package init(version: String, host: String, id: DeviceID?) {
        self.version = version
        self.host = host
        self.id = id
    }
}
