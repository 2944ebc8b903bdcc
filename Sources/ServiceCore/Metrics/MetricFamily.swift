// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// A metric at one moment, with a sample for each set of labels.
package struct MetricFamily: Sendable {
    package enum Kind: String, Sendable { case counter, gauge }

    package let name: StaticString
    package let kind: Kind
    package let help: StaticString
    package fileprivate(set) var samples: [MetricSample] = []

    /// The unit that ends its name, as UCUM writes it (ucum.org); nil for others.
    package var unit: String? { Self.unit(of: "\(name)") }

    private static func unit(of name: String) -> String? {
        if name.hasSuffix("_seconds") { return "s" }
        if name.hasSuffix("_bytes") { return "By" }
        return name.hasSuffix("_total") ? "1" : nil
    }
}

/// One number of a metric.
package struct MetricSample: Sendable {
    package let labels: [MetricLabel]
    package let number: MetricNumber
}

package struct MetricLabel: Sendable, Equatable {
    package let name: StaticString
    package let value: String

    /// Names are compared by their address first: a metric is written at one place.
    package static func == (a: Self, b: Self) -> Bool {
        a.value == b.value && (a.name.utf8Start == b.name.utf8Start || "\(a.name)" == "\(b.name)")
    }
}

/// A number: whole, or with a fraction.
package enum MetricNumber: Sendable, Equatable {
    case whole(UInt64)
    case seconds(Duration)
    case flag(Bool)

    /// Appends it in decimal; seconds to the millisecond.
    package func append(to line: inout TextLine) {
        switch self {
        case .whole(let number): line.append(number)
        case .flag(let flag): line.append(literal: flag ? "1" : "0")
        case .seconds(let duration):
            let milliseconds = max(0, duration.inNanoseconds / 1_000_000)
            line.append(milliseconds / 1000)
            line.append(literal: ".")
            line.append(milliseconds % 1000, digits: 3)
        }
    }

    package var double: Double {
        switch self {
        case .whole(let number): Double(number)
        case .flag(let flag): flag ? 1 : 0
        case .seconds(let duration): Double(max(0, duration.inNanoseconds / 1_000_000)) / 1000
        }
    }
}

/// Metrics in the order in which they are written.
package struct MetricFamilies: Sendable {
    package private(set) var all: [MetricFamily] = []

    package init() {}

    /// Adds a metric with its only sample.
    package mutating func write(
        _ name: StaticString, _ kind: MetricFamily.Kind, _ help: StaticString, _ number: MetricNumber
    ) {
        begin(name, kind, help)
        sample(name, [], number)
    }

    /// Adds counters of one sample each.
    package mutating func writeCounters(_ counters: [(StaticString, StaticString, UInt64)]) {
        for (name, help, count) in counters { write(name, .counter, help, .whole(count)) }
    }

    /// Begins a metric, whose samples follow.
    package mutating func begin(_ name: StaticString, _ kind: MetricFamily.Kind, _ help: StaticString) {
        all.append(MetricFamily(name: name, kind: kind, help: help))
    }

    /// Adds a sample to the metric that was begun last, whose name it repeats.
    package mutating func sample(
        _ name: StaticString, _ labels: [(name: StaticString, value: String)], _ number: MetricNumber
    ) {
        let labels = labels.map { MetricLabel(name: $0.name, value: $0.value) }
        all[all.count - 1].samples.append(MetricSample(labels: labels, number: number))
    }
}
