// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
import SessionCore

/// A call of the service with checked parameters.
package enum ServiceRequest: Sendable, Equatable {
    case info
    case describe(String)
    case status
    case monitor(statusOnly: Bool)
    /// A name or an address; nil for anywhere.
    case explain(host: String?)
    case wait(WaitCondition, WaitLimits)
    /// What the program that dials says of an interface.
    case hint(String, Metered?, isRoaming: Bool?)
    case history(since: WallTime?, limit: Int)
    case outbox(OutboxCall)

    /// Parses a call; on failure returns the refusal.
    package static func read(_ call: VarlinkCall) -> Result<ServiceRequest, VarlinkRefusal> {
        Result { () throws(VarlinkRefusal) in try Self(call) }
    }

    private init(_ call: VarlinkCall) throws(VarlinkRefusal) {
        guard let interface = call.interface else { throw .init(.methodNotFound(call.method)) }
        var parameters = VarlinkParameters(call.parameters)
        let method = call.method.dropFirst(interface.count + 1)
        switch interface {
        case IntrospectionInterface.name[...]: self = try Self.introspection(method, &parameters, call)
        case ServiceInterface.name[...]: self = try Self.service(method, &parameters, call)
        default: throw .init(.interfaceNotFound(String(interface)))
        }
        try parameters.finish()
        // No method changes the protocol of the connection.
        if call.upgrade { throw .init(.invalidParameter("upgrade")) }
    }

    private static func introspection(
        _ method: Substring, _ parameters: inout VarlinkParameters, _ call: VarlinkCall
    ) throws(VarlinkRefusal) -> Self {
        switch method {
        case "GetInfo": return .info
        case "GetInterfaceDescription": return .describe(try parameters.required("interface"))
        default: throw .init(.methodNotFound(call.method))
        }
    }

    private static func service(
        _ method: Substring, _ parameters: inout VarlinkParameters, _ call: VarlinkCall
    ) throws(VarlinkRefusal) -> Self {
        switch method {
        case "GetStatus": return .status
        case "Monitor":
            guard call.more else { throw .init(.expectedMore) }
            return .monitor(statusOnly: try parameters.flag("statusOnly") ?? false)
        case "Explain": return .explain(host: try parameters.host("host"))
        case "Wait": return try wait(&parameters)
        case "SetHint": return try hint(&parameters)
        case "GetHistory":
            return .history(
                since: try parameters.time("since"),
                limit: try parameters.count("limit", in: 1...10_000) ?? 1000)
        default:
            guard let request = try OutboxCall(method, &parameters) else {
                throw .init(.methodNotFound(call.method))
            }
            if case .monitor = request, !call.more { throw .init(.expectedMore) }
            return .outbox(request)
        }
    }

    private static func hint(_ parameters: inout VarlinkParameters) throws(VarlinkRefusal) -> Self {
        let interface = try parameters.required("interface")
        var metered: Metered?
        if let word = try parameters.string("metered") {
            metered = Metered(rawValue: word)
            guard metered != nil else { throw .init(.invalidParameter("metered")) }
        }
        return .hint(interface, metered, isRoaming: try parameters.flag("roaming"))
    }

    private static func wait(_ parameters: inout VarlinkParameters) throws(VarlinkRefusal) -> Self {
        let goal: WaitCondition.Goal
        switch try parameters.string("goal") {
        case nil: goal = .reachable
        case let word?:
            guard let known = WaitCondition.Goal(rawValue: word) else {
                throw .init(.invalidParameter("goal"))
            }
            goal = known
        }
        let names =
            try [parameters.string("interface")].compactMap { $0 } + parameters.texts("interfaces", upTo: 64)
        let patterns = try parameters.texts("ignore", upTo: 64)
        let ignored = patterns.compactMap { InterfacePattern($0) }
        guard ignored.count == patterns.count else { throw .init(.invalidParameter("ignore")) }
        let condition = WaitCondition(
            goal: goal, interfaces: names, needsAll: try parameters.flag("all") ?? false, ignored: ignored)
        let limits = WaitLimits(
            stable: try parameters.seconds("stable") ?? .zero, timeout: try parameters.seconds("timeout"),
            noCarrier: try parameters.seconds("noCarrierTimeout"))
        if let conflict = condition.conflict(limits) { throw .init(.invalidParameter(conflict.parameter)) }
        return .wait(condition, limits)
    }
}

extension WaitConflict {
    /// The parameter to leave out.
    fileprivate var parameter: String {
        switch self {
        case .allOfNone: "all"
        case .ignoresNamed: "ignore"
        case .carrierForUnreachable: "noCarrierTimeout"
        }
    }
}

/// A refusal in place of the answer.
package struct VarlinkRefusal: Error, Sendable, Equatable {
    package let reply: VarlinkReply
    package init(_ reply: VarlinkReply) { self.reply = reply }
}
