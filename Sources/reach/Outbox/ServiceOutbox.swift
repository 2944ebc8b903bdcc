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
    /// A longer content is handed over in pieces of this length: a message, in base64 and with header fields, has 1 MiB at most.
    private static let piece = 512 << 10
    /// The outbox's thread syncs the disk before it answers.
    private static let patience: Int64 = 60_000_000_000

    init(at path: String) { self.path = path }

    func enqueue(_ request: OutboxRequest) throws -> OutboxReceipt {
        var parameters = Self.parameters(request)
        switch try content(request.body) {
        case .none: break
        case .whole(let bytes):
            if !bytes.isEmpty { parameters["bodyBase64"] = .string(Data(bytes).base64EncodedString()) }
        case .handedOver(let name): parameters["content"] = .string(name)
        }
        let reply = try call("Enqueue", parameters)
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

    /// The state directory of the service.
    func directory() throws -> String {
        guard let directory = try call("GetOutboxDirectory")["directory"]?.string else {
            throw OutboxError(.storage, "\(path): the service answers otherwise than was expected")
        }
        return directory
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
            var client = try connect(until: limit)
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

    /// Connects, and waits its turn where the service has too many callers at the moment.
    private func connect(until limit: Int64) throws(ServiceError) -> VarlinkClient {
        while true {
            do throws(ServiceError) { return try VarlinkClient(path: path) } catch {
                let answer = SocketAnswer(asking: path)
                guard answer == .busy || answer == .listening, Reactor.now < limit else { throw error }
            }
            usleep(Self.turn)
        }
    }

    /// Between two tries to connect, in microseconds.
    private static let turn: UInt32 = 50_000

    private static func error(_ name: String, _ parameters: JSONValue?, _ path: String) -> any Error {
        let reason = parameters?["reason"]?.string ?? parameters?["parameter"]?.string ?? name
        return switch name.split(separator: ".").last ?? "" {
        case "PermissionDenied":
            OutboxError(
                .storage,
                "\(path): the service does not let this user use its outbox, or read secrets for it",
                advice: "ask as root, or set outbox.group in its configuration to a group of yours")
        case "InvalidParameter": OutboxError(.badRequest, "the service does not take “\(reason)” as it is")
        case "KeyTaken": OutboxError(.keyTaken, reason)
        case "Unavailable": Absence(reason: "\(path): \(reason)")
        case "MethodNotFound": OutboxError(.storage, "\(path): the service is older than this program")
        default: OutboxError(.storage, "\(path): \(reason)")
        }
    }

    private static func parameters(_ request: OutboxRequest) -> [String: JSONValue] {
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
        if let key = request.idempotencyKey { parameters["idempotencyKey"] = .string(key) }
        if let timeout = request.timeout { parameters["answerTimeout"] = .number(timeout / .seconds(1)) }
        if let most = request.maximumAttempts { parameters["maximumAttempts"] = .integer(Int64(most)) }
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

    /// A content on its way to the service.
    private enum Content {
        case none
        case whole([UInt8])
        /// It is there under this name.
        case handedOver(String)
    }

    private func content(_ body: OutboxRequest.Body?) throws -> Content {
        switch body {
        case nil: return .none
        case .data(let data):
            var rest = Array(data)[...]
            return try content { () in
                defer { rest = rest.dropFirst(Self.piece) }
                return Array(rest.prefix(Self.piece))
            }
        case .file(let path):
            let number = open(path, O_RDONLY | O_CLOEXEC)
            guard number >= 0 else {
                throw OutboxError(
                    .badRequest, "cannot read \(path): \(String(cString: strerror(errno)))",
                    advice: "check the path and the permissions")
            }
            defer { close(number) }
            return try content { () in try Self.read(number, path) }
        }
    }

    /// - Parameter next: gives the next piece, empty at the end.
    private func content(_ next: () throws -> [UInt8]) throws -> Content {
        let first = try next()
        var (piece, name) = (try next(), String?.none)
        if piece.isEmpty { return .whole(first) }
        for bytes in [first, piece] { name = try add(bytes, to: name) }
        while true {
            piece = try next()
            guard !piece.isEmpty else { return .handedOver(name ?? "") }
            name = try add(piece, to: name)
        }
    }

    private func add(_ bytes: [UInt8], to name: String?) throws -> String? {
        var parameters: [String: JSONValue] = ["bodyBase64": .string(Data(bytes).base64EncodedString())]
        if let name { parameters["content"] = .string(name) }
        return try call("AddContent", parameters)["content"]?.string
    }

    /// A piece of a file, whole but at its end.
    private static func read(_ number: Int32, _ path: String) throws -> [UInt8] {
        var (bytes, filled) = ([UInt8](repeating: 0, count: piece), 0)
        while filled < bytes.count {
            let count = bytes[filled...].withUnsafeMutableBytes {
                Glibc.read(number, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw OutboxError(.badRequest, "cannot read \(path): \(String(cString: strerror(errno)))")
            }
            if count == 0 { break }
            filled += count
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
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
