// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
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
        // Not this machine's own network: it may have none.
        manager = URLSessionManager(
            configuration: configuration, queue: RequestQueue.Settings { $0.follows = .none })
    }

    func request(
        _ path: String, _ method: HTTPRequest.Method = .get, at listener: OriginListener = .http,
        body: RequestBody? = nil
    ) throws -> SessionRequest {
        try SessionRequest(origin.url(path, at: listener), method: method, body: body)
    }

    /// Has the manager trust the origin's own root, and no other.
    func trustOrigin(_ policy: SecurityPolicy = .default) {
        var policy = policy
        policy.trustRoots = .only(.file(origin.pem(.root)))
        manager.securityPolicy = policy
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

extension TaskOptions {
    /// With a policy that tries again at once.
    static func retrying(respectsRetryAfter: Bool = true) -> TaskOptions {
        var policy = RetryPolicy()
        policy.scale = 0.001
        policy.respectsRetryAfter = respectsRetryAfter
        var options = TaskOptions()
        options.interceptor = policy
        return options
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
    func record(_ entry: Entry) { entries.withLock { $0.append(entry) } }
    var all: [Entry] { entries.withLock { $0 } }
}
