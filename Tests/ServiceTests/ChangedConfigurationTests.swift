// SPDX-License-Identifier: Apache-2.0

import ServiceCore
import TestSupport
import Testing

/// Configurations with changed lines and values, the same ones each time.
struct ChangedConfigurationTests {
    private static let values = [
        "true", "false", "0", "1", "-1", "0.5", "1_000", "99999999999999999999", "\"500ms\"", "\"1d\"",
        "\"\"",
        "\"/a\"", "\"@a\"", "[]", "[\"a\"]", "[\"a\", ", "\"\\u0007\"", "\"\u{1B}[31m\"", "\u{202E}", "#",
        "'''",
    ]

    private func read(_ text: String) -> ConfigurationReader {
        var reader = ConfigurationReader()
        reader.read(file: "reach.toml", Array(text.utf8))
        reader.finish()
        return reader
    }

    private func change(_ lines: inout [String], _ random: inout SeededGenerator) {
        let (file, other) = (
            Int.random(in: lines.indices, using: &random), lines.randomElement(using: &random)
        )
        switch Int.random(in: 0..<5, using: &random) {
        case 0: lines.remove(at: file)
        case 1: lines.insert(other ?? "", at: file)
        case 2:
            // What is off is switched on, and the reverse.
            let switches = lines.indices.filter {
                lines[$0].hasSuffix("= true") || lines[$0].hasSuffix("= false")
            }
            guard let one = switches.randomElement(using: &random) else { return }
            let key = lines[one].prefix { $0 != "=" }
            lines[one] = "\(key)= \(!lines[one].hasSuffix("true"))"
        default:
            let key = lines[file].prefix { $0 != "=" }
            lines[file] = "\(key)= \(Self.values.randomElement(using: &random) ?? "")"
        }
        if lines.isEmpty { lines.append("") }
    }

    @Test(
        "FLD-075 a changed configuration is refused in harmless words, or is the same when it is printed and read",
        arguments: 0..<300)
    func changed(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let text = ConfigurationText.effective(ServiceConfiguration(), sources: [:])
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        for _ in 0...Int.random(in: 0..<4, using: &random) { change(&lines, &random) }
        let reader = read(lines.joined(separator: "\n"))
        for problem in reader.problems {
            let scalars = problem.description.unicodeScalars
            #expect(
                scalars.allSatisfy { $0.value >= 0x20 && $0.properties.generalCategory != .format },
                "\(problem)")
        }
        guard reader.problems.isEmpty else { return }
        let again = read(ConfigurationText.effective(reader.configuration, sources: [:]))
        #expect(again.problems.isEmpty && again.configuration == reader.configuration)
    }
}
