// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Outbox
import Reachability
import ServiceCore
import Synchronization

/// What the commands do with an outbox, whether they open its file or ask a service that has it.
protocol OutboxAccess: Sendable {
    func enqueue(_ request: OutboxRequest) async throws -> OutboxReceipt
    func entries(state: OutboxEntry.State?, lane: String?, after: OutboxID?, limit: Int) async throws
        -> [OutboxEntry]
    func entry(_ id: OutboxID) async throws -> OutboxEntry?
    func reply(to id: OutboxID) async throws -> OutboxReply?
    func counts() async throws -> OutboxCounts
    /// Waits until it has left, or has become a dead letter.
    func settlement(of id: OutboxID) async throws -> OutboxSettlement
    /// All dead letters where no numbers are given.
    func retry(_ ids: [OutboxID]?) async throws -> [OutboxID]
    func remove(_ ids: [OutboxID]) async throws -> [OutboxID]
    func pause() async throws
    func resume() async throws
    func flush() async throws
}

extension RequestOutbox: OutboxAccess {}

/// Where the outbox is.
struct OutboxOptions: ParsableArguments {
    @Option(
        name: .customLong("state-directory"),
        help: ArgumentHelp("The folder of the outbox.", valueName: "directory"))
    var folder = ServicePaths.stateDirectory

    /// Opens the file itself.
    private static func open(_ folder: String) async throws -> RequestOutbox {
        guard !folder.isEmpty else { throw OutboxError(.badRequest, "--state-directory needs a path") }
        // Whoever delivers checks the file; a command is not to read all of it.
        var configuration = OutboxConfiguration()
        configuration.checksIntegrity = false
        return try await RequestOutbox(at: folder, configuration: configuration) { event in
            if case .damaged(let path, let reason, let count) = event {
                complain(
                    "the outbox was damaged (\(reason)); it is at \(path) now, and \(count) entries were carried over"
                )
            }
        }
    }

    /// Runs what asks the outbox, until it is done, a signal comes or the time is over.
    ///
    /// - Throws: the exit code, when what is wrong has been said.
    func run<Value: Sendable>(
        limit: Duration? = nil, _ work: @escaping @Sendable (RequestOutbox) async throws -> Value
    ) throws -> Value {
        // First of all, for threads inherit what is done with signals.
        let vigil = Vigil()
        let box = Mutex<Result<Value, any Error>?>(nil)
        let folder = folder
        let task = Task {
            let result: Result<Value, any Error>
            do {
                let outbox = try await Self.open(folder)
                result = .success(try await work(outbox))
                await outbox.close()
            } catch { result = .failure(error) }
            box.withLock { $0 = result }
            vigil.finish()
        }
        let deadline = limit.map { Clock.monotonic + $0 }
        switch vigil.wait(watchesOutput: false, until: { deadline }) {
        case .interrupted:
            task.cancel()
            throw ExitCode.interrupted
        case .timedOut:
            task.cancel()
            throw ExitCode.timedOut
        case .finished, .readerLeft: break
        }
        guard let result = box.withLock({ $0 }) else { throw ExitCode.interrupted }
        do { return try result.get() } catch let error as OutboxError {
            complain(error.description)
            throw ExitCode(error)
        }
    }
}

extension ExitCode {
    /// What a failure of the outbox ends a command with.
    init(_ error: OutboxError) {
        switch error.code {
        case .missingLibrary: self = .unavailable
        case .badRequest: self = .usage
        default: self = .inputOutput
        }
    }

    /// What a dead letter ends a command with, as `reach get` would.
    init(_ failure: OutboxFailure?) {
        switch failure?.kind {
        case .network: self = .cannotConnect
        case .security: self = .untrusted
        case .server: self = .serverError
        case .local: self = .unavailable
        default: self = .refused
        }
    }
}
