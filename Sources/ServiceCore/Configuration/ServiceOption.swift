// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachabilityCore
import SessionCore

/// An option: in the file, on the command line, and in the environment; help and manual are made from it.
package struct ServiceOption: Sendable {
    /// The type of its values.
    package enum Kind: Sendable, Equatable {
        /// An absolute path; may be empty if optional.
        case path(isOptional: Bool)
        /// A path, or `@` and the name of a socket without a file (unix(7)).
        case socket
        case text
        case boolean
        case integer(ClosedRange<Int64>)
        case duration(ClosedRange<Duration>)
        case choice([String])
        case list
        /// A list of header fields, `Name: value`.
        case fields
        /// A list of header fields whose values are looked up later, `Name: Bearer file:/PATH`.
        case secrets
        /// A list of absolute paths.
        case folders
        /// A list of `NAME=VALUE`, the value one of ``Metered``; with a name for the example.
        case costs(String)
        /// A list of texts for ``BatchSetting``.
        case batches
        /// A list of texts for ``BudgetSetting``.
        case budgets
        case endpoint
        /// An http or https URL; empty for none.
        case url
    }

    /// The key in the file, dotted: `hooks.timeout`.
    package let key: String
    package let kind: Kind
    /// The documentation, in one or two sentences.
    package let summary: String
    /// Reads the value.
    package let value: @Sendable (ServiceConfiguration) -> TOMLValue
    let set: @Sendable (inout ServiceConfiguration, TOMLValue) -> Void

    init(
        _ key: String, _ kind: Kind, _ summary: String,
        _ value: @escaping @Sendable (ServiceConfiguration) -> TOMLValue,
        set: @escaping @Sendable (inout ServiceConfiguration, TOMLValue) -> Void
    ) {
        self.key = key
        self.kind = kind
        self.summary = summary
        self.value = value
        self.set = set
    }

    /// The option on the command line: `--hooks-timeout`, or a short one.
    package var flag: String { Self.shortFlags[key] ?? longFlag }

    /// The key as an option, which is accepted for each.
    package var longFlag: String { "--" + String(key.map { $0 == "." ? "-" : $0 }) }

    private static let shortFlags = [
        "telemetry.otlp": "--otlp", "telemetry.remote-write": "--remote-write",
    ]

    /// The variable of the environment: `REACH_SERVE_HOOKS_TIMEOUT`.
    package var variable: String {
        Self.variablePrefix + String(key.uppercased().map { $0 == "." || $0 == "-" ? "_" : $0 })
    }

    /// The prefix of all variables.
    package static let variablePrefix = "REACH_SERVE_"

    /// The option with this key.
    package static func named(_ key: String) -> ServiceOption? { all.first { $0.key == key } }

    /// Sets a value; for an invalid one returns the allowed values.
    func apply(_ value: TOMLValue, to configuration: inout ServiceConfiguration) -> String? {
        guard kind.admits(value) else { return kind.allowed(insteadOf: value) }
        set(&configuration, value)
        return nil
    }
}

extension ServiceOption.Kind {
    /// The allowed values, as the end of a message.
    package var allowed: String {
        switch self {
        case .path(let isOptional):
            "an absolute path in quotation marks" + (isOptional ? ", or \"\" for none" : "")
        case .socket: "an absolute path, or @ and a name, in quotation marks"
        case .text: "a text in quotation marks"
        case .boolean: "true or false"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .duration(let range):
            DurationText.allowed
                + ", from \(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
        case .choice(let words): "one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
        case .costs(let name):
            "a list of texts such as [\"\(name)=no\"], each with yes, guess-yes, guess-no, no or unknown"
        case .fields: "a list of header fields such as [\"X-Scope-OrgID: fleet\"]"
        case .secrets:
            "a list of header fields such as [\"Authorization: Bearer file:/etc/reach/token\"], each with env:VARIABLE or file: and an absolute path"
        case .batches: BatchSetting.allowed
        case .budgets: BudgetSetting.allowed
        case .list: "a list of texts such as [\"wwan0\"]"
        case .folders: "a list of absolute paths such as [\"/var/lib/update\"]"
        case .endpoint:
            "an address with a port such as \"127.0.0.1:9464\" or \"[::1]:9464\", or \"\" for none"
        case .url: "an http or https URL in quotation marks, or \"\" for none"
        }
    }

    /// The longest path of a socket in bytes: what `sun_path` holds with its NUL (unix(7)).
    private static let longestSocket = 107
    /// The longest path in bytes: PATH_MAX with its NUL (path_resolution(7)).
    private static let longestPath = 4095

    /// The allowed values for an invalid one; for one that is only too long, the allowed length.
    func allowed(insteadOf value: TOMLValue) -> String {
        let count = value.text.utf8.count
        switch self {
        case .socket where isAbsolute(value.text) && count > Self.longestSocket:
            return "a path of at most \(Self.longestSocket) bytes for a socket, and this one has \(count)"
        case .path where value.text.hasPrefix("/") && count > Self.longestPath:
            return "a path of at most \(Self.longestPath) bytes, and this one has \(count)"
        default: return allowed
        }
    }

    private func isAbsolute(_ text: String) -> Bool { text.hasPrefix("/") || text.hasPrefix("@") }

    func admits(_ value: TOMLValue) -> Bool {
        switch (self, value) {
        case (.path(let isOptional), .string(let text)):
            text.isEmpty
                ? isOptional
                : text.hasPrefix("/") && !text.utf8.contains(0) && text.utf8.count <= Self.longestPath
        case (.socket, .string(let text)):
            isAbsolute(text) && (2...Self.longestSocket).contains(text.utf8.count)
        case (.text, .string), (.boolean, .boolean): true
        case (.integer(let range), .integer(let number)): range.contains(number)
        case (.duration(let range), .string(let text)):
            DurationText.duration(text).map(range.contains) ?? false
        case (.choice(let words), .string(let word)): words.contains(word)
        case (.list, .array(let values)): values.allSatisfy { if case .string = $0 { true } else { false } }
        case (.fields, .array(let values)): values.allSatisfy { TelemetryField.field($0.text) != nil }
        case (.secrets, .array(let values)): values.allSatisfy { TelemetryField.secret($0.text) != nil }
        case (.folders, .array(let values)):
            values.allSatisfy {
                $0.text.hasPrefix("/") && !$0.text.contains(",") && !$0.text.contains("\n")
                    && !$0.text.split(separator: "/").contains("..") && $0.text.utf8.count <= Self.longestPath
            }
        case (.costs, .array(let values)): values.allSatisfy { Metered.assignment($0.text) != nil }
        case (.batches, .array(let values)): values.allSatisfy { BatchSetting($0.text) != nil }
        case (.budgets, .array(let values)): values.allSatisfy { BudgetSetting($0.text) != nil }
        case (.endpoint, .string(let text)): text.isEmpty || Endpoint(text) != nil
        case (.url, .string(let text)): text.isEmpty || (try? URL(spoken: text)) != nil
        default: false
        }
    }

    /// The first member of a list of several that is not allowed by itself.
    func culprit(in value: TOMLValue) -> TOMLValue? {
        guard case .array(let values) = value, values.count > 1 else { return nil }
        return values.first { !admits(.array([$0])) }
    }

    /// The value of a text from the command line or the environment, without the file's quotation marks.
    func value(plain text: String) -> TOMLValue {
        switch self {
        case .boolean: text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : .string(text)
        case .integer: Int64(text).map { .integer($0) } ?? .string(text)
        // Values have commas.
        case .fields, .secrets: .array(text.split(separator: "\n").map { .string(String($0)) })
        case .list, .costs, .batches, .budgets, .folders:
            .array(text.split(separator: ",").map { .string(String($0)) })
        default: .string(text)
        }
    }
}

extension TOMLValue {
    var text: String { if case .string(let text) = self { text } else { "" } }
    var number: Int64 { if case .integer(let number) = self { number } else { 0 } }
    var flag: Bool { if case .boolean(let flag) = self { flag } else { false } }
    var duration: Duration { DurationText.duration(text) ?? .zero }
    var texts: [String] { if case .array(let values) = self { values.map(\.text) } else { [] } }

    static func duration(_ duration: Duration) -> TOMLValue { .string(DurationText.text(duration)) }
    static func texts(_ texts: [String]) -> TOMLValue { .array(texts.map { .string($0) }) }
}
