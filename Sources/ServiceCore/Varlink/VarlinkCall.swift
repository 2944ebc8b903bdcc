// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import SessionCore

/// A call of the protocol (varlink.org/Method-Call).
package struct VarlinkCall: Sendable, Equatable {
    /// The name with its interface: `io.reach.Reachability.GetStatus`.
    package var method: String
    package var parameters: [String: JSONValue]
    /// The caller accepts any number of replies.
    package var more = false
    /// The caller wants no reply.
    package var oneway = false
    /// The caller wants to use another protocol on the connection afterwards.
    package var upgrade = false

    package init(_ method: String, _ parameters: [String: JSONValue] = [:], more: Bool = false) {
        self.method = method
        self.parameters = parameters
        self.more = more
    }

    /// Parses a message; the error is a sentence.
    package init(message: [UInt8]) throws(VarlinkFault) {
        let value: JSONValue
        do throws(JSONParseError) { value = try JSONValue(parsing: Data(message)) } catch {
            throw VarlinkFault("this is no JSON: \(error)")
        }
        guard let members = value.object else { throw VarlinkFault("a call is a JSON object") }
        guard let method = members["method"]?.string else {
            throw VarlinkFault("a call has the member \"method\", a string")
        }
        self.method = method
        switch members["parameters"] {
        case nil, .null?: parameters = [:]
        case .object(let parameters)?: self.parameters = parameters
        default: throw VarlinkFault("the \"parameters\" of a call are an object")
        }
        more = try Self.flag("more", members)
        oneway = try Self.flag("oneway", members)
        upgrade = try Self.flag("upgrade", members)
    }

    private static func flag(_ name: String, _ members: [String: JSONValue]) throws(VarlinkFault) -> Bool {
        switch members[name] {
        case nil, .null?: return false
        case .bool(let value)?: return value
        default: throw VarlinkFault("\"\(name)\" of a call is true or false")
        }
    }

    /// The interface of the method: the text before the last dot; nil without a dot.
    package var interface: Substring? { method.lastIndex(of: ".").map { method[..<$0] } }

    /// The call as a message, with its NUL.
    package var message: [UInt8] {
        var members: [String: JSONValue] = ["method": .string(method), "parameters": .object(parameters)]
        if more { members["more"] = true }
        if oneway { members["oneway"] = true }
        return Array(JSONValue.object(members).description.utf8) + [0]
    }
}

/// Why a message is no call.
package struct VarlinkFault: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
