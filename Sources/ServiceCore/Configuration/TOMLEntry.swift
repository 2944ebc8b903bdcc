// SPDX-License-Identifier: Apache-2.0

/// A value of a TOML file.
package enum TOMLValue: Sendable, Equatable {
    case string(String)
    case integer(Int64)
    case float(Double)
    case boolean(Bool)
    case array([TOMLValue])

    /// The name of the type in messages.
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

/// A key of a TOML file with its value and line.
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

/// A syntax error, or the use of an unsupported part of TOML.
package struct TOMLError: Error, Sendable, Equatable {
    /// The line, from 1 on.
    package var line: Int
    /// The fault, and the expected text.
    package var problem: String
}
