// SPDX-License-Identifier: Apache-2.0

/// A value of a TOML file.
package enum TOMLValue: Sendable, Equatable {
    case string(String)
    case integer(Int64)
    case float(Double)
    case boolean(Bool)
    case array([TOMLValue])

    /// What it is, as a message names it.
    package var kind: String {
        switch self {
        case .string: "a string"
        case .integer: "an integer"
        case .float: "a number with a fraction"
        case .boolean: "true or false"
        case .array: "a list"
        }
    }
}

/// One key of a TOML file with its value, and where it stands.
package struct TOMLEntry: Sendable, Equatable {
    /// The whole key with its table, dotted: `hooks.timeout`.
    package var key: String
    /// The line, from 1 on.
    package var line: Int
    package var value: TOMLValue

    package init(key: String, line: Int, value: TOMLValue) {
        self.key = key
        self.line = line
        self.value = value
    }
}

/// A file that is no TOML, or uses a part of it that is not supported.
package struct TOMLError: Error, Sendable, Equatable {
    /// The line, from 1 on.
    package var line: Int
    /// The fault, and the expected text.
    package var problem: String
}
