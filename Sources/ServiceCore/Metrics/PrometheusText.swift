// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Writes metrics in the text format of Prometheus (exposition format 0.0.4).
package struct PrometheusText: ~Copyable, Sendable {
    package enum Kind: String, Sendable { case counter, gauge }

    /// A number: whole, or with a fraction.
    package enum Number: Sendable, Equatable {
        case whole(UInt64)
        case seconds(Duration)
        case flag(Bool)
    }

    package private(set) var line = TextLine()

    package init() {}

    package var bytes: [UInt8] { line.bytes }

    /// Writes the header of a metric and its only sample.
    package mutating func write(_ name: StaticString, _ kind: Kind, _ help: StaticString, _ number: Number) {
        begin(name, kind, help)
        sample(name, [], number)
    }

    /// Writes counters of one sample each.
    package mutating func writeCounters(_ counters: [(StaticString, StaticString, UInt64)]) {
        for (name, help, count) in counters { write(name, .counter, help, .whole(count)) }
    }

    /// Writes the lines before the samples of a metric.
    package mutating func begin(_ name: StaticString, _ kind: Kind, _ help: StaticString) {
        line.append(literal: "# HELP ")
        line.append(literal: name)
        line.append(literal: " ")
        line.append(literal: help)
        line.append(literal: "\n# TYPE ")
        line.append(literal: name)
        line.append(literal: " ")
        line.append(kind.rawValue)
        line.append(literal: "\n")
    }

    package mutating func sample(
        _ name: StaticString, _ labels: [(name: StaticString, value: String)], _ number: Number
    ) {
        line.append(literal: name)
        for (index, label) in labels.enumerated() {
            line.append(literal: index == 0 ? "{" : ",")
            line.append(literal: label.name)
            line.append(literal: "=\"")
            line.append(Self.escaped(label.value))
            line.append(literal: "\"")
        }
        if !labels.isEmpty { line.append(literal: "}") }
        line.append(literal: " ")
        switch number {
        case .whole(let number): line.append(number)
        case .flag(let flag): line.append(literal: flag ? "1" : "0")
        case .seconds(let duration):
            let milliseconds = max(0, duration.inNanoseconds / 1_000_000)
            line.append(milliseconds / 1000)
            line.append(literal: ".")
            line.append(milliseconds % 1000, digits: 3)
        }
        line.append(literal: "\n")
    }

    // The format escapes backslash, quotation mark and line feed. Names of interfaces are untrusted and may
    // be shown on a terminal, so direction marks and control characters are replaced.
    private static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result.append(contentsOf: "\\\\".unicodeScalars)
            case "\"": result.append(contentsOf: "\\\"".unicodeScalars)
            case "\n": result.append(contentsOf: "\\n".unicodeScalars)
            case _ where SafeText.steers(scalar.value): result.append("\u{FFFD}")
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
