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

/// Where a file is no TOML, or has what is not read here.
package struct TOMLError: Error, Sendable, Equatable {
    /// The line, from 1 on.
    package var line: Int
    /// What is wrong, and what is expected.
    package var problem: String
}
