// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import HTTPTypes
import Outbox
import ReachabilityCore
import Service
import ServiceCore
import SessionCore

/// Client for a running service's outbox, for users without write access to its files.
struct ServiceOutboxClient: OutboxClient {
    private let path: String
    /// Longer contents are sent in pieces of this length, since a message has at most 1 MiB.
    private static let piece = 512 << 10
    /// The limit for an answer: the outbox's thread syncs the disk first.
    private static let answerTimeout: Int64 = 60_000_000_000

    init(at path: String) { self.path = path }

    /// Asks again for a while where the service ends between the call and its answer: the request may be
    /// stored then, and its key keeps it from being stored twice.
    func enqueue(_ request: OutboxRequest) throws -> OutboxReceipt {
        var request = request
        let chosenKey = request.chosenKey
        let key = chosenKey ?? OutboxRequest.randomKey()
        request.idempotencyKey = key
        let canRepeat = Self.canBeReadAgain(request.body)
        var limit: Int64?
        while true {
            do {
                let receipt = try stored(request)
                guard limit != nil, chosenKey == nil, receipt.idempotencyKey == key else { return receipt }
                // An earlier attempt of this call has stored it.
                return OutboxReceipt(id: receipt.id, idempotencyKey: key, replaced: receipt.replaced)
            } catch let absence as Absence {
                // Before the first call was sent nothing can be stored.
                guard limit != nil || absence.isAfterCall else {
                    throw OutboxError(.storage, absence.reason)
                }
                let end = limit ?? Reactor.now + Self.restartTime
                limit = end
                guard canRepeat, Reactor.now < end else {
                    throw OutboxError(
                        .storage, "\(absence.reason), and the request may be stored",
                        advice: "send it again with --key \(key), with which it is not stored twice")
                }
                poll(nil, 0, Self.pauseMilliseconds)
                try Task.checkCancellation()
            }
        }
    }

    /// Whether a content is the same when it is read once more, other than that of a pipe.
    private static func canBeReadAgain(_ body: OutboxRequest.Body?) -> Bool {
        guard case .file(let path) = body else { return true }
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    /// How long a service that has ended may take to be there again, in nanoseconds.
    private static let restartTime: Int64 = 10_000_000_000

    private func stored(_ request: OutboxRequest) throws -> OutboxReceipt {
        var parameters = Self.parameters(request)
        switch try content(request.body) {
        case .none: break
        case .whole(let bytes):
            if !bytes.isEmpty { parameters["bodyBase64"] = .string(Data(bytes).base64EncodedString()) }
        case .uploaded(let name): parameters["content"] = .string(name)
        }
        if let download = request.download {
            Self.add(download, to: &parameters)
            return try receipt(answer("EnqueueFetch", parameters))
        }
        return try receipt(answer("Enqueue", parameters))
    }

    private func receipt(_ reply: JSONValue) throws -> OutboxReceipt {
        guard let id = reply["id"]?.string.flatMap({ Int64($0) }), let key = reply["idempotencyKey"]?.string
        else { throw OutboxError(.storage, "\(path): the service answers otherwise than was expected") }
        let replaced = (reply["replaced"]?.array ?? []).compactMap { $0.string.flatMap { Int64($0) } }
        return OutboxReceipt(
            id: OutboxID(rawValue: id), idempotencyKey: key, isRepeated: reply["repeated"]?.bool ?? false,
            replaced: replaced.map { OutboxID(rawValue: $0) })
    }

    /// Waits across restarts of the service, such as an update of the package: the request is on the disk.
    func settlement(of id: OutboxID) async throws -> EntrySettlement {
        var isAway = false
        while true {
            do {
                return try settled(id)
            } catch let absence as Absence {
                if !isAway {
                    complain("\(absence.reason); request \(id) is kept, and the service waited for")
                }
                isAway = true
                // The service sends nothing when it starts, so this polls. It blocks the thread, as the call
                // itself does: Task.sleep needs a thread of libdispatch, which may be missing.
                poll(nil, 0, Self.pauseMilliseconds)
                try Task.checkCancellation()
            }
        }
    }

    /// The interval between two attempts to reach the service.
    private static let pauseMilliseconds: Int32 = 250

    private func settled(_ id: OutboxID) throws -> EntrySettlement {
        let reply = try answer("WaitOutbox", ["id": .string("\(id)")], until: .max)
        let outcome = reply["outcome"]?.string ?? "unknown"
        let reason = reply["lastError"]?.string
        let successor = reply["successor"]?.string.flatMap { Int64($0) }.map { OutboxID(rawValue: $0) }
        return EntrySettlement(
            outcome: outcome, statusCode: reply["statusCode"]?.int,
            failure: reply["failure"]?.string.flatMap(OutboxFailure.Kind.init(rawValue:)), reason: reason,
            message: reason ?? EntrySettlement.message(outcome, successor), successor: successor,
            reply: reply["answer"].flatMap { Self.answer($0) }, file: reply["file"]?.string,
            fileSize: reply["bytes"]?.int.map { Int64($0) })
    }

    private static func answer(_ value: JSONValue) -> OutboxReply? {
        guard let status = value["statusCode"]?.int else { return nil }
        let body = value["body"]?.string.map { Data($0.utf8) }
        return OutboxReply(
            statusCode: status, header: value["header"]?.string ?? "",
            body: body ?? value["bodyBase64"]?.string.flatMap { Data(base64Encoded: $0) } ?? Data())
    }

    /// The state directory of the service.
    func directory() throws -> String {
        guard let directory = try call("GetOutboxDirectory")["directory"]?.string else {
            throw OutboxError(.storage, "\(path): the service answers otherwise than was expected")
        }
        return directory
    }

    /// The service delivers by itself.
    func deliver() {}
    func pause() throws { _ = try call("PauseOutbox") }
    func resume() throws { _ = try call("ResumeOutbox") }
    func flush() throws { _ = try call("FlushOutbox") }

    func hold(gate name: String, reason: String, for time: Duration?) throws {
        var parameters: [String: JSONValue] = ["name": .string(name)]
        if !reason.isEmpty { parameters["reason"] = .string(reason) }
        if let time { parameters["for"] = .number(time / .seconds(1)) }
        _ = try call("HoldGate", parameters)
    }

    func release(gate name: String) throws -> Bool {
        try call("ReleaseGate", ["name": .string(name)])["wasHeld"]?.bool ?? false
    }

    func gates() throws -> [OutboxGate] {
        (try call("ListGates")["gates"]?.array ?? []).compactMap { gate in
            guard let name = gate["name"]?.string, let since = gate["since"]?.string.flatMap({ WallTime($0) })
            else { return nil }
            return OutboxGate(
                name: name, reason: gate["reason"]?.string ?? "", since: Self.date(since),
                until: gate["until"]?.string.flatMap { WallTime($0) }.map { Self.date($0) })
        }
    }

    private static func date(_ time: WallTime) -> Date {
        Date(timeIntervalSince1970: Double(time.nanoseconds) / 1e9)
    }

    private func call(_ method: String, _ parameters: [String: JSONValue] = [:]) throws -> JSONValue {
        do {
            return try answer(method, parameters)
        } catch let absence as Absence {
            throw OutboxError(.storage, absence.reason)
        }
    }

    /// No service answers, or its outbox is not open.
    private struct Absence: Error {
        let reason: String
        /// Whether the call was sent, so that the service may have carried it out.
        var isAfterCall = false
    }

    private func answer(_ method: String, _ parameters: [String: JSONValue]) throws -> JSONValue {
        try answer(method, parameters, until: Reactor.now + Self.answerTimeout)
    }

    private func answer(_ method: String, _ parameters: [String: JSONValue], until limit: Int64) throws
        -> JSONValue
    {
        let message: [UInt8]?
        var isSent = false
        do throws(ServiceError) {
            var client = try connect(until: limit)
            isSent = true
            try client.send(VarlinkCall(ServiceInterface.name + "." + method, parameters), until: limit)
            message = try client.receive(until: limit)
        } catch {
            throw Absence(reason: error.description, isAfterCall: isSent)
        }
        guard let message, let reply = try? JSONValue(parsing: Data(message)) else {
            throw Absence(reason: "\(path): the service has ended the connection", isAfterCall: true)
        }
        if let name = reply["error"]?.string { throw Self.error(name, reply["parameters"], path) }
        return reply["parameters"] ?? .object([:])
    }

    /// Connects; tries again while the service has too many clients.
    private func connect(until limit: Int64) throws(ServiceError) -> VarlinkClient {
        while true {
            do throws(ServiceError) { return try VarlinkClient(path: path) } catch {
                let answer = SocketAnswer(asking: path)
                guard answer == .busy || answer == .listening, Reactor.now < limit else { throw error }
            }
            // The socket has no event for a freed slot, so this polls; the call blocks its thread anyway.
            usleep(Self.retryMicroseconds)
        }
    }

    private static let retryMicroseconds: UInt32 = 50_000

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
        case "NameTaken": OutboxError(.nameTaken, reason)
        case "BadRequest": OutboxError(.badRequest, reason)
        case "Unavailable": Absence(reason: "\(path): \(reason)")
        case "MethodNotFound": OutboxError(.storage, "\(path): the service is older than this program")
        default: OutboxError(.storage, "\(path): \(reason)")
        }
    }

    private enum Content {
        case none
        case whole([UInt8])
        /// Uploaded under this name.
        case uploaded(String)
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

    /// - Parameter next: returns the next piece, empty at the end.
    private func content(_ next: () throws -> [UInt8]) throws -> Content {
        let first = try next()
        var (piece, name) = (try next(), String?.none)
        if piece.isEmpty { return .whole(first) }
        for bytes in [first, piece] { name = try add(bytes, to: name) }
        while true {
            piece = try next()
            guard !piece.isEmpty else { return .uploaded(name ?? "") }
            name = try add(piece, to: name)
        }
    }

    private func add(_ bytes: [UInt8], to name: String?) throws -> String? {
        var parameters: [String: JSONValue] = ["bodyBase64": .string(Data(bytes).base64EncodedString())]
        if let name { parameters["content"] = .string(name) }
        return try answer("AddContent", parameters)["content"]?.string
    }

    /// A piece of a file; only the last one is shorter.
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
