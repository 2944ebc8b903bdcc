// SPDX-License-Identifier: Apache-2.0

/// Texts about the options: the help, the sample file, and the current configuration.
package enum ConfigurationText {
    /// The options for `reach serve --help`.
    package static func help(width: Int = 80) -> String {
        let defaults = ServiceConfiguration()
        var text = ""
        for option in ServiceOption.all {
            text += "  \(option.flag) \(option.kind.placeholder)\n"
            let summary = option.summary + " (default: \(option.value(defaults).plainText))"
            for line in wrap(summary, width: width - 10) { text += "          \(line)\n" }
        }
        return text
    }

    /// A file with every option at its default, commented out.
    package static var sample: String {
        var text = """
            # reach serve: every option, at its default. Lines without # change one.
            # 'reach serve --check' says whether the file is right, and what is in force.
            # On the command line hooks.timeout is --hooks-timeout, in the environment REACH_SERVE_HOOKS_TIMEOUT.

            """
        sections(ServiceConfiguration()) { option, value in
            for line in wrap(option.summary, width: 98) { text += "# \(line)\n" }
            text += "#\(lastPart(option.key)) = \(value.tomlText)\n"
        } table: {
            text += "\n[\($0)]\n"
        }
        return text
    }

    /// The current configuration as a file, with the source of each value.
    package static func effective(_ configuration: ServiceConfiguration, sources: [String: String]) -> String
    {
        var text = ""
        sections(configuration) { option, value in
            let line = "\(lastPart(option.key)) = \(value.tomlText)"
            text += line + (sources[option.key].map { "  # \($0)" } ?? "") + "\n"
        } table: {
            text += "\n[\($0)]\n"
        }
        return text
    }

    private static func sections(
        _ configuration: ServiceConfiguration, _ write: (ServiceOption, TOMLValue) -> Void,
        table: (Substring) -> Void
    ) {
        var current: Substring = ""
        for option in ServiceOption.all {
            let name = option.key.prefix(upTo: option.key.lastIndex(of: ".") ?? option.key.startIndex)
            if name != current { table(name) }
            current = name
            write(option, option.value(configuration))
        }
    }

    private static func lastPart(_ key: String) -> Substring { key.split(separator: ".").last ?? "" }

    static func wrap(_ text: String, width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            if !lines[lines.count - 1].isEmpty, lines[lines.count - 1].count + 1 + word.count > width {
                lines.append("")
            }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines
    }
}

extension ServiceOption.Kind {
    fileprivate var placeholder: String {
        switch self {
        case .path: "<path>"
        case .socket: "<path|@name>"
        case .text: "<name>"
        case .boolean: "<true|false>"
        case .integer: "<n>"
        case .duration: "<time>"
        // With the option they do not fit into 80 columns.
        case .choice(let words) where words.joined().utf8.count > 50: "<word>"
        case .choice(let words): "<\(words.joined(separator: "|"))>"
        case .list: "<name,…>"
        case .folders: "<folder,…>"
        case .costs: "<name=value,…>"
        case .fields, .secrets: "<name: value>"
        case .batches, .budgets: "<lane=words,…>"
        case .endpoint: "<address:port>"
        case .url: "<url>"
        }
    }
}

extension TOMLValue {
    /// The value in the syntax of the file.
    package var tomlText: String {
        switch self {
        case .string(let text): "\"\(Self.escaped(text))\""
        case .integer(let number): "\(number)"
        case .float(let number): "\(number)"
        case .boolean(let flag): flag ? "true" : "false"
        case .array(let values): "[\(values.map(\.tomlText).joined(separator: ", "))]"
        }
    }

    /// The value in the syntax of a command line.
    fileprivate var plainText: String {
        switch self {
        case .string(let text): text.isEmpty ? "none" : text
        case .array(let values): values.isEmpty ? "none" : values.map(\.plainText).joined(separator: ",")
        default: tomlText
        }
    }

    private static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result.append(contentsOf: ["\\", scalar])
            case "\n": result.append(contentsOf: "\\n".unicodeScalars)
            case "\t": result.append(contentsOf: "\\t".unicodeScalars)
            case _ where SafeText.steers(scalar.value):
                let digits = String(scalar.value, radix: 16)
                result.append(
                    contentsOf: "\\U\(String(repeating: "0", count: 8 - digits.count))\(digits)"
                        .unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
