// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
package import SessionCore

/// A reply of the protocol.
package struct VarlinkReply: Sendable, Equatable {
    /// The name of the error with its interface; nil for success.
    package let error: String?
    /// More replies to the same call follow.
    package let continues: Bool
    /// The reply as a message, with its NUL; made once, since many subscribers may get it.
    package let message: [UInt8]
    /// Where the parameters are in it.
    private let object: Range<Int>

    /// The parameters as JSON, an object.
    package var parameters: [UInt8] { Array(message[object]) }

    package init(error: String? = nil, _ parameters: JSONValue = .object([:]), continues: Bool = false) {
        self.init(error: error, continues: continues) { $0.append(parameters.description) }
    }

    /// A report as `reach status --json` prints it, byte for byte, without the line feed.
    package init(_ report: Report, continues: Bool = false) {
        self.init(error: nil, continues: continues) {
            ReportJSON.write(report, to: &$0)
            $0.removeLast()
        }
    }

    private init(error: String?, continues: Bool, _ writeParameters: (inout TextLine) -> Void) {
        self.error = error
        self.continues = continues
        var line = TextLine()
        line.append(literal: "{")
        if let error {
            line.append(literal: "\"error\":")
            line.append(json: error)
            line.append(literal: ",")
        }
        line.append(literal: "\"parameters\":")
        let start = line.count
        writeParameters(&line)
        object = start..<line.count
        if continues { line.append(literal: ",\"continues\":true") }
        line.append(literal: "}")
        line.append(byte: 0)
        message = line.bytes
    }
}

/// The errors that this service answers with.
extension VarlinkReply {
    package static func methodNotFound(_ method: String) -> Self {
        Self(error: "org.varlink.service.MethodNotFound", ["method": .string(method)])
    }

    package static func interfaceNotFound(_ interface: String) -> Self {
        Self(error: "org.varlink.service.InterfaceNotFound", ["interface": .string(interface)])
    }

    package static func invalidParameter(_ parameter: String) -> Self {
        Self(error: "org.varlink.service.InvalidParameter", ["parameter": .string(parameter)])
    }

    /// The caller may not do this.
    package static let permissionDenied = Self(error: "org.varlink.service.PermissionDenied")

    /// The method replies many times, and the caller did not set `more`.
    package static let expectedMore = Self(error: "org.varlink.service.ExpectedMore")

    /// The message is invalid; the connection ends with this reply.
    package static func malformed(_ reason: String) -> Self { failure("MalformedMessage", reason) }

    /// A limit of the service is reached.
    package static func limit(_ reason: String) -> Self { failure("LimitReached", reason) }

    /// The time limit of a wait was reached.
    package static func timedOut(_ reason: String) -> Self { failure("TimedOut", reason) }

    /// No link of a wait has had a carrier for long enough.
    package static func noCarrier(_ reason: String) -> Self {
        Self(error: ServiceInterface.name + ".NoCarrier", ["reason": .string(reason)])
    }

    /// The service has no such component, or it does not work.
    package static func unavailable(_ reason: String) -> Self { failure("Unavailable", reason) }

    /// Why a service without a history is ``unavailable(_:)``.
    package static let noHistoryReason = "this service keeps no history"

    /// Another request has this idempotency key.
    package static func keyTaken(_ reason: String) -> Self { failure("KeyTaken", reason) }

    /// Requests with this name wait in another lane.
    package static func nameTaken(_ reason: String) -> Self { failure("NameTaken", reason) }

    /// What was asked of the outbox cannot be.
    package static func badRequest(_ reason: String) -> Self { failure("BadRequest", reason) }

    /// There is no such interface.
    package static func noSuchInterface(_ name: String) -> Self {
        Self(error: ServiceInterface.name + ".NoSuchInterface", ["interface": .string(name)])
    }

    /// There is no such entry in the outbox.
    package static func noSuchEntry(_ id: String) -> Self {
        Self(error: ServiceInterface.name + ".NoSuchEntry", ["id": .string(id)])
    }

    private static func failure(_ name: String, _ reason: String) -> Self {
        Self(error: "\(ServiceInterface.name).\(name)", ["reason": .string(reason)])
    }
}
