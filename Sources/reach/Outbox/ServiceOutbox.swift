// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import HTTPTypes
import Outbox
import Service
import ServiceCore
import SessionCore

/// The outbox of a service that runs, asked by its socket: for who may not write its files, and so that one process looks after them.
struct ServiceOutbox: Sendable {
    private let path: String
    /// A message with a longer content would not fit into what the service takes (1 MiB), in base64 and with its header fields.
    static let largestContent = 700 << 10
    /// The outbox's thread syncs the disk before it answers.
    private static let patience: Int64 = 60_000_000_000

    /// Nil where no service listens.
    init?(at path: String) {
        guard !path.isEmpty, (try? VarlinkClient(path: path)) != nil else { return nil }
        self.path = path
    }

    func enqueue(_ request: OutboxRequest) throws -> OutboxReceipt {
        let reply = try call("Enqueue", try Self.parameters(request))
        guard let id = reply["id"]?.string.flatMap({ Int64($0) }), let key = reply["idempotencyKey"]?.string
        else { throw OutboxError(.storage, "\(path): the service answers otherwise than was expected") }
        return OutboxReceipt(
            id: OutboxID(rawValue: id), idempotencyKey: key, isRepeated: reply["repeated"]?.bool ?? false)
    }

    /// Waits until it has left, or was given up.
    ///
    /// The request lies on the disk: where the service ends meanwhile, an update of the package for instance, the next one is waited for.
    func settlement(of id: OutboxID) async throws -> ServiceSettlement {
        var isAway = false
        while true {
            do {
                return try settled(id)
            } catch let absence as Absence {
                if !isAway {
                    complain("\(absence.reason); request \(id) is kept, and the service waited for")
                }
                isAway = true
                // This blocks its thread anyway; Task.sleep needs a thread of libdispatch, which may not be there.
                poll(nil, 0, Self.pauseMilliseconds)
                try Task.checkCancellation()
            }
        }
    }

    /// Between two looks for a service.
    private static let pauseMilliseconds: Int32 = 250

    private func settled(_ id: OutboxID) throws -> ServiceSettlement {
        let reply = try answer("WaitOutbox", ["id": .string("\(id)")], until: .max)
        return ServiceSettlement(
            outcome: reply["outcome"]?.string ?? "unknown", statusCode: reply["statusCode"]?.int,
            failure: reply["failure"]?.string.flatMap(OutboxFailure.Kind.init(rawValue:)),
            reason: reply["lastError"]?.string)
    }

    func pause() throws { _ = try call("PauseOutbox") }
    func resume() throws { _ = try call("ResumeOutbox") }
    func flush() throws { _ = try call("FlushOutbox") }

    private func call(_ method: String, _ parameters: [String: JSONValue] = [:]) throws -> JSONValue {
        do {
            return try answer(method, parameters, until: Reactor.now + Self.patience)
        } catch let absence as Absence {
            throw OutboxError(.storage, absence.reason)
        }
    }

    /// There is no service at the moment, or it has no outbox yet or any more.
    private struct Absence: Error {
        let reason: String
    }

    private func answer(_ method: String, _ parameters: [String: JSONValue], until limit: Int64) throws
        -> JSONValue
    {
        let message: [UInt8]?
        do throws(ServiceError) {
            var client = try VarlinkClient(path: path)
            try client.send(VarlinkCall(ServiceInterface.name + "." + method, parameters), until: limit)
            message = try client.receive(until: limit)
        } catch {
            throw Absence(reason: error.description)
        }
        guard let message, let reply = try? JSONValue(parsing: Data(message)) else {
            throw Absence(reason: "\(path): the service has ended the connection")
        }
        if let name = reply["error"]?.string { throw Self.error(name, reply["parameters"], path) }
        return reply["parameters"] ?? .object([:])
    }

    private static func error(_ name: String, _ parameters: JSONValue?, _ path: String) -> any Error {
        let reason = parameters?["reason"]?.string ?? parameters?["parameter"]?.string ?? name
        return switch name.split(separator: ".").last ?? "" {
        case "PermissionDenied":
            OutboxError(
                .storage,
                "\(path): the service does not let this user use its outbox, or read secrets for it",
                advice: "ask as root, or set outbox.group in its configuration to a group of yours")
        case "InvalidParameter": OutboxError(.badRequest, "the service does not take “\(reason)” as it is")
        case "Unavailable": Absence(reason: "\(path): \(reason)")
        case "MethodNotFound": OutboxError(.storage, "\(path): the service is older than this program")
        default: OutboxError(.storage, "\(path): \(reason)")
        }
    }

    private static func parameters(_ request: OutboxRequest) throws -> [String: JSONValue] {
        var parameters: [String: JSONValue] = [
            "url": .string(request.url.absoluteString), "method": .string(request.method.rawValue),
            "lane": .string(request.lane), "priority": .integer(Int64(request.priority)),
            "network": .string(request.networkCondition.rawValue),
        ]
        // A name that stands there twice is one field with a list (RFC 9110 §5.3).
        var fields: [String: JSONValue] = [:]
        for name in Set(request.headerFields.map(\.name)) {
            fields[name.rawName] = .string(request.headerFields[name] ?? "")
        }
        parameters["headers"] = .object(fields)
        if let body = try content(request.body), !body.isEmpty {
            parameters["bodyBase64"] = .string(body.base64EncodedString())
        }
        if let key = request.idempotencyKey { parameters["idempotencyKey"] = .string(key) }
        if let expires = request.expires {
            parameters["expiresIn"] = .number(max(0, expires.timeIntervalSinceNow))
        }
        if !request.secretFields.isEmpty {
            parameters["secrets"] = .array(
                request.secretFields.map { field in
                    .object([
                        "name": .string(field.name), "prefix": .string(field.prefix),
                        "source": .string(field.source), "key": .string(field.key),
                    ])
                })
        }
        return parameters
    }

    private static func content(_ body: OutboxRequest.Body?) throws -> Data? {
        let data: Data
        switch body {
        case nil: return nil
        case .data(let given): data = given
        case .file(let path):
            var status = stat()
            guard stat(path, &status) == 0 else {
                throw OutboxError(.badRequest, "cannot read \(path): \(String(cString: strerror(errno)))")
            }
            try check(Int(status.st_size))
            do { data = try Data(contentsOf: URL(filePath: path)) } catch {
                throw OutboxError(.badRequest, "cannot read \(path): \(error)")
            }
        }
        try check(data.count)
        return data
    }

    private static func check(_ size: Int) throws {
        guard size > largestContent else { return }
        throw OutboxError(
            .full,
            "the content of \(size) bytes is more than \(largestContent), which the service takes by its socket",
            advice: "name the service's folder by --state-directory where you may write there")
    }
}

/// How a request ended, as a service tells it.
struct ServiceSettlement: Sendable {
    /// `delivered`, `expired`, `dropped`, `removed`, or `dead`.
    var outcome: String
    var statusCode: Int?
    var failure: OutboxFailure.Kind?
    var reason: String?
}
