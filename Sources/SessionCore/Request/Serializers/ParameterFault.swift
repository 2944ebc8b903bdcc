// SPDX-License-Identifier: Apache-2.0

/// A parameter that a format cannot hold, and where it is.
///
/// The path grows while the error goes up: nothing is written down as long as all is well.
package struct ParameterFault: Error, CustomStringConvertible {
    /// Deeper than anything sensible, and well within a thread's stack.
    package static let depthLimit = 512

    private let what: String
    private var path = ""

    package init(_ value: ParameterValue) { what = value.kind }

    package init(what: String) { self.what = what }

    package static var tooDeep: ParameterFault {
        ParameterFault(what: "nested deeper than \(depthLimit) levels")
    }

    package func inside(_ component: String) -> ParameterFault {
        var outer = self
        if path.utf8.count < 200 { outer.path = component + path }
        return outer
    }

    package var description: String { "\(TextQuote("parameters" + path)) is \(what)" }
}

extension ParameterValue {
    /// What it is, for messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .integer, .unsigned: "a number"
        case .number(let value): value.isFinite ? "a number" : "a number that is not finite"
        case .string: "text"
        case .data: "data"
        case .date: "a date"
        case .array: "an array"
        case .set: "a set"
        case .dictionary: "a dictionary"
        }
    }
}
