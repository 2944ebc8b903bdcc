// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Outbox
import Reachability
import Service
import ServiceCore
import Synchronization

/// The location of the outbox.
struct OutboxOptions: ParsableArguments {
    @Option(
        name: .customLong("state-directory"),
        help: ArgumentHelp(
            "Work on the files in this folder of a service, whether one runs or not. (default: where the service has them that answers, or was there last, else as configured: \(ServicePaths.stateDirectory))",
            valueName: "directory"))
    var folder: String?

    /// - Throws: the exit code, after the reason is printed.
    func location() throws -> OutboxLocation {
        do { return try OutboxLocation(named: folder) } catch let error as OutboxError {
            complain(error.description)
            throw ExitCode(error)
        }
    }

    /// Why this user must not deliver from a state directory; nil if it may, or if there is none.
    static func deliveryRefusal(_ directory: String) -> String? {
        var status = stat()
        guard stat(directory, &status) == 0 else { return nil }
        return StateDirectoryRules.refusal(owner: status.st_uid, mode: status.st_mode, user: geteuid())
            .map { "\(directory) \($0), or leave out --now" }
    }

    /// Opens the outbox in a state directory.
    private static func open(_ folder: String, makes: Bool) async throws -> RequestOutbox {
        guard !folder.isEmpty else { throw OutboxError(.badRequest, "--state-directory needs a path") }
        let path = folder
        let folder = folder + "/" + OutboxService.folderName
        guard makes || !RequestOutbox.isMissing(at: folder) else {
            complain(
                "there is no outbox in \(path); the first 'reach send' makes one; --state-directory names another folder"
            )
            throw ExitCode.noInput
        }
        // The limits that a service stored in the folder, else those of the configuration. The delivering
        // process checks the file's integrity; a command does not read all of it.
        var configuration = OutboxConfiguration(OutboxLocation.configuration.outbox)
        configuration.checksIntegrity = false
        configuration.usesStoredLimits = true
        configuration.limits.downloadFolders = FetchFolders.paths(
            configuration.limits.downloadFolders, in: path)
        return try await RequestOutbox(at: folder, configuration: configuration) { event in
            if case .damaged(let path, let reason, let count) = event {
                complain(
                    "the outbox was damaged (\(reason)); it is at \(path) now, and \(count) entries were carried over"
                )
            }
        }
    }

    /// Runs work on the outbox's files, which a running service locates; `makes` a missing outbox.
    ///
    /// - Throws: the exit code, after the reason is printed.
    func run<Value: Sendable>(
        limit: Duration? = nil, makes: Bool = false,
        _ work: @escaping @Sendable (RequestOutbox) async throws -> Value
    ) throws -> Value {
        switch try location() {
        case .files(let directory):
            return try Self.run(in: directory, limit: limit, makes: makes, work)
        case .service(let service):
            let directory = try Self.attempt(limit: limit) { try service.directory() }
            return try Self.run(in: directory, limit: limit, makes: makes, work)
        }
    }

    /// Runs work on a running service's outbox, or on its files where no service runs.
    static func run<Value: Sendable>(
        at location: OutboxLocation, limit: Duration? = nil, makes: Bool = false,
        _ work: @escaping @Sendable (any OutboxClient) async throws -> Value
    ) throws -> Value {
        switch location {
        case .service(let service): try attempt(limit: limit) { try await work(service) }
        case .files(let directory):
            try run(in: directory, limit: limit, makes: makes) {
                try await work(LocalOutboxClient(outbox: $0))
            }
        }
    }

    /// Runs work on the files of a state directory.
    private static func run<Value: Sendable>(
        in directory: String, limit: Duration? = nil, makes: Bool = false,
        _ work: @escaping @Sendable (RequestOutbox) async throws -> Value
    ) throws -> Value {
        try attempt(limit: limit) {
            let outbox = try await open(directory, makes: makes)
            let value = try await work(outbox)
            await outbox.close()
            return value
        }
    }

    private static func attempt<Value: Sendable>(
        limit: Duration? = nil, _ work: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        // Before any thread starts: threads inherit the handling of signals.
        let waiter = try MainThreadWaiter.begin(forTask: true, orExit: .inputOutput)
        let box = Mutex<Result<Value, any Error>?>(nil)
        let task = Task {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            box.withLock { $0 = result }
            waiter.finish()
        }
        let deadline = limit.map { Clock.monotonic + $0 }
        switch waiter.wait(watchesOutput: false, until: { deadline }) {
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
            complain(error.spoken)
            throw ExitCode(error)
        }
    }
}

extension ExitCode {
    /// The exit code for a failure of the outbox.
    init(_ error: OutboxError) {
        switch error.code {
        case .missingLibrary: self = .unavailable
        case .badRequest: self = .usage
        case .keyTaken, .nameTaken: self = .failure
        default: self = .inputOutput
        }
    }

    /// The exit code for a dead letter, as `reach get` has it.
    init(_ failure: OutboxFailure.Kind?) {
        switch failure {
        case .network: self = .cannotConnect
        case .security: self = .untrusted
        case .server: self = .serverError
        case .local: self = .unavailable
        default: self = .refused
        }
    }
}
