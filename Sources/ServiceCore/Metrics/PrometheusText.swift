// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Writes metrics in the text format of Prometheus (exposition format 0.0.4).
package struct PrometheusText: ~Copyable, Sendable {
    package private(set) var line = TextLine()

    package init() {}

    package var bytes: [UInt8] { line.bytes }

    package mutating func write(_ families: [MetricFamily]) {
        for family in families {
            begin(family)
            for sample in family.samples { write(sample, of: family.name) }
        }
    }

    /// Writes the lines before the samples of a metric.
    private mutating func begin(_ family: MetricFamily) {
        line.append(literal: "# HELP ")
        line.append(literal: family.name)
        line.append(literal: " ")
        line.append(literal: family.help)
        line.append(literal: "\n# TYPE ")
        line.append(literal: family.name)
        line.append(literal: " ")
        line.append(family.kind.rawValue)
        line.append(literal: "\n")
    }

    private mutating func write(_ sample: MetricSample, of name: StaticString) {
        line.append(literal: name)
        for (index, label) in sample.labels.enumerated() {
            line.append(literal: index == 0 ? "{" : ",")
            line.append(literal: label.name)
            line.append(literal: "=\"")
            line.append(Self.escaped(label.value))
            line.append(literal: "\"")
        }
        if !sample.labels.isEmpty { line.append(literal: "}") }
        line.append(literal: " ")
        sample.number.append(to: &line)
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
