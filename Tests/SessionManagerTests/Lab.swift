// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import Synchronization
import TestSupport

/// A manager beside the test origin.
struct Lab {
    let origin: TestSupport.Origin
    let manager: URLSessionManager

    /// - Parameter own: an origin of its own; nil takes the one that all share.
    init(
        beside own: TestSupport.Origin? = nil, _ change: (inout SessionConfiguration) -> Void = { _ in }
    ) async throws {
        if let own { origin = own } else { origin = try await TestSupport.Origin.shared }
        var configuration = SessionConfiguration()
        configuration.hostAddresses = origin.resolveEntries
        configuration.proxy = ""
        change(&configuration)
        manager = URLSessionManager(configuration: configuration)
    }

    func request(
        _ path: String, _ method: HTTPRequest.Method = .get, at listener: OriginListener = .http,
        body: RequestBody? = nil
    ) throws -> SessionRequest {
        try SessionRequest(origin.url(path, at: listener), method: method, body: body)
    }

    /// Resumes a task and waits until its completion block has been called.
    func run(
        _ request: SessionRequest, options: TaskOptions = TaskOptions()
    ) async throws -> Finished {
        let box = Box<Finished>()
        let task = try manager.dataTask(with: request, options: options) { response, object, error in
            box.put(Finished(response: response, object: object, error: error))
        }
        task.resume()
        return await box.value
    }
}

/// What a completion block got.
struct Finished: Sendable {
    var response: SessionResponse?
    var object: (any Sendable)?
    var error: SessionError?

    var json: JSONValue? { object as? JSONValue }
}

/// A value that arrives once; a second one is remembered as a fault.
final class Box<Value: Sendable>: Sendable {
    private struct State {
        var values: [Value] = []
        var waiting: [CheckedContinuation<Value, Never>] = []
    }

    private let state = Mutex(State())

    func put(_ value: Value) {
        let waiting = state.withLock { state in
            state.values.append(value)
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    var count: Int { state.withLock { $0.values.count } }
    var first: Value? { state.withLock { $0.values.first } }

    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let value: Value? = state.withLock { state in
                    if state.values.isEmpty { state.waiting.append(continuation) }
                    return state.values.first
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }
}

/// What happened, in order.
final class Diary<Entry: Sendable>: Sendable {
    private let entries = Mutex<[Entry]>([])
    func note(_ entry: Entry) { entries.withLock { $0.append(entry) } }
    var all: [Entry] { entries.withLock { $0 } }
}

/// A folder that goes with the test.
final class Folder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/reach-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXFailure(errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}

struct POSIXFailure: Error {
    let number: Int32
    init(_ number: Int32) { self.number = number }
}
