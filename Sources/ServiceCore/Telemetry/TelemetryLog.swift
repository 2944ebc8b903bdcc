// SPDX-License-Identifier: Apache-2.0

/// The samples of the metrics, and the changes, that no entry of the outbox holds yet.
///
/// Times are those of the boot clock, which is never set: a batch translates them when it leaves, so that
/// samples from before the clock was set get right times too.
package struct TelemetryLog: Sendable {
    /// One set of labels of a metric, and its numbers over time.
    package struct Series: Sendable {
        package let labels: [MetricLabel]
        package fileprivate(set) var points: [Point] = []
        /// Whether its newest sample had a number.
        fileprivate var isAlive = true
    }

    package struct Point: Sendable, Equatable {
        /// The number of the sample, counted from the start.
        package let sample: Int
        /// Nil where the series has ended: its last number holds no longer.
        package let number: MetricNumber?

        package init(sample: Int, number: MetricNumber?) {
            self.sample = sample
            self.number = number
        }
    }

    package struct Metric: Sendable {
        package let name: String
        package let kind: MetricFamily.Kind
        package let unit: String?
        package fileprivate(set) var series: [Series] = []
    }

    /// The most samples; above, the oldest are dropped.
    package static let limit = 600
    /// The most changes between two whole samples, so that a flapping link fills no disk.
    package static let changesPerSample = 60

    package private(set) var metrics: [Metric] = []
    private var indices: [String: Int] = [:]
    /// The times of the samples from ``first`` on; nanoseconds of the boot clock.
    package private(set) var times: [Int64] = []
    /// The number of the oldest sample.
    package private(set) var first = 0
    package private(set) var changes: [TelemetryChange] = []
    /// How many changes were removed before the oldest one.
    private var changesRemoved = 0
    private var changesSinceSample = 0
    /// How many changes were left out since the start.
    package private(set) var changesLeftOut = 0
    /// How many samples were dropped since the start.
    package private(set) var samplesDropped = 0
    private var newest = Int64.min

    package init() {}

    package var isEmpty: Bool { times.isEmpty && changes.isEmpty }

    /// Adds a sample.
    ///
    /// - Parameters:
    ///   - families: all metrics, or those of a change alone.
    ///   - isWhole: whether metrics that are missing in `families` have ended.
    package mutating func sample(_ families: [MetricFamily], at boot: Int64, isWhole: Bool) {
        if isWhole { changesSinceSample = 0 }
        let number = add(boot)
        var written: Set<Int> = []
        for family in families {
            let index = index(of: family)
            written.insert(index)
            metrics[index].add(family.samples, sample: number)
        }
        for index in metrics.indices where isWhole || written.contains(index) {
            metrics[index].end(before: number)
        }
        drop(times.count - Self.limit)
    }

    /// Ends all series, as nothing is sampled any more.
    package mutating func end(at boot: Int64) { sample([], at: boot, isWhole: true) }

    /// Records a change; false where there were too many, and it is only counted.
    package mutating func add(_ change: TelemetryChange) -> Bool {
        guard changesSinceSample < Self.changesPerSample else {
            changesLeftOut += 1
            return false
        }
        changesSinceSample += 1
        changes.append(change)
        if changes.count > Self.limit {
            changes.removeFirst()
            changesRemoved += 1
            changesLeftOut += 1
        }
        return true
    }

    /// What is here now, with times of the wall clock.
    ///
    /// - Parameters:
    ///   - offset: what the wall clock is ahead of the boot clock; nanoseconds.
    ///   - start: since when counters count, by the boot clock.
    package func batch(offset: Int64, start: Int64) -> TelemetryBatch {
        TelemetryBatch(
            metrics: metrics, first: first, times: times.map { $0 &+ offset }, start: start &+ offset,
            changes: changes.map { ($0, $0.boot &+ offset) }, changesEnd: changesRemoved + changes.count)
    }

    /// Removes what a batch of this log holds, which is on the disk.
    package mutating func remove(_ batch: TelemetryBatch) {
        removeSamples(batch.first + batch.times.count - first)
        let count = min(max(batch.changesEnd - changesRemoved, 0), changes.count)
        changes.removeFirst(count)
        changesRemoved += count
    }

    private mutating func drop(_ surplus: Int) {
        guard surplus > 0 else { return }
        samplesDropped += surplus
        removeSamples(surplus)
    }

    private mutating func removeSamples(_ wanted: Int) {
        let count = min(max(wanted, 0), times.count)
        guard count > 0 else { return }
        times.removeFirst(count)
        first += count
        for index in metrics.indices { metrics[index].remove(before: first) }
    }

    /// Adds a time and returns its number; times grow by a millisecond at least, which is what Prometheus
    /// tells apart.
    private mutating func add(_ boot: Int64) -> Int {
        newest = newest == .min ? boot : max(boot, newest + 1_000_000)
        times.append(newest)
        return first + times.count - 1
    }

    private mutating func index(of family: MetricFamily) -> Int {
        let name = "\(family.name)"
        if let index = indices[name] { return index }
        metrics.append(Metric(name: name, kind: family.kind, unit: family.unit))
        indices[name] = metrics.count - 1
        return metrics.count - 1
    }
}

extension TelemetryLog.Metric {
    fileprivate mutating func add(_ samples: [MetricSample], sample number: Int) {
        for (position, sample) in samples.enumerated() {
            let index = index(of: sample.labels, near: position)
            series[index].points.append(.init(sample: number, number: sample.number))
            series[index].isAlive = true
        }
    }

    /// The series with these labels, which mostly are in the same order each time.
    private mutating func index(of labels: [MetricLabel], near place: Int) -> Int {
        if series.indices.contains(place), series[place].labels == labels { return place }
        if let index = series.firstIndex(where: { $0.labels == labels }) { return index }
        series.append(.init(labels: labels))
        return series.count - 1
    }

    /// Ends the series without a number in this sample.
    fileprivate mutating func end(before number: Int) {
        for index in series.indices where series[index].isAlive && series[index].points.last?.sample != number
        {
            series[index].points.append(.init(sample: number, number: nil))
            series[index].isAlive = false
        }
    }

    fileprivate mutating func remove(before first: Int) {
        for index in series.indices {
            let count = series[index].points.prefix { $0.sample < first }.count
            series[index].points.removeFirst(count)
        }
        series.removeAll { !$0.isAlive && $0.points.isEmpty }
    }
}
