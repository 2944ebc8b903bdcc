// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Outbox
import Reachability
import Service
import ServiceCore
import Synchronization

/// Where the outbox is.
struct OutboxOptions: ParsableArguments {
    @Option(
        name: .customLong("state-directory"),
        help: ArgumentHelp(
            "Work on the files in this folder of a service, whether one runs or not. (default: where the service has them that answers, or was there last, else as configured: \(ServicePaths.stateDirectory))",
            valueName: "directory"))
    var folder: String?

    /// Where it is: with the service that answers, or in files.
    ///
    /// - Throws: the exit code, when it was said why neither can be.
    func place() throws -> OutboxPlace {
        do { return try OutboxPlace(named: folder) } catch let error as OutboxError {
            complain(error.description)
            throw ExitCode(error)
        }
    }

    /// Why what waits in a state directory is not sent by this user; nil where it may be, and where there is no such folder.
    static func deliveryRefusal(_ directory: String) -> String? {
        var status = stat()
        guard stat(directory, &status) == 0 else { return nil }
        return StateDirectoryRules.refusal(owner: status.st_uid, mode: status.st_mode, user: geteuid())
            .map { "\(directory) \($0), or leave out --now" }
    }

    /// Opens the file itself, where a service would look for it.
    private static func open(_ folder: String, makes: Bool) async throws -> RequestOutbox {
        guard !folder.isEmpty else { throw OutboxError(.badRequest, "--state-directory needs a path") }
        let place = folder
        let folder = folder + "/" + OutboxKeeper.folderName
        guard makes || !RequestOutbox.isMissing(at: folder) else {
            complain(
                "there is no outbox in \(place); the first 'reach send' makes one; --state-directory names another folder"
            )
            throw ExitCode.noInput
        }
        // Whoever delivers checks the file; a command is not to read all of it.
        // What holds for a service that would run here, unless one has used the folder, with options of its own perhaps.
        var configuration = OutboxConfiguration(OutboxPlace.configuration.outbox)
        configuration.checksIntegrity = false
        configuration.takesKeptLimits = true
        return try await RequestOutbox(at: folder, configuration: configuration) { event in
            if case .damaged(let path, let reason, let count) = event {
                complain(
                    "the outbox was damaged (\(reason)); it is at \(path) now, and \(count) entries were carried over"
                )
            }
        }
    }

    /// Runs what works on the outbox's files, until it is done, a signal comes or the time is over.
    ///
    /// A service that answers tells where they are.
    ///
    /// - Parameter makes: whether an outbox is made where there is none; else that is an error.
    /// - Throws: the exit code, when what is wrong has been said.
    func run<Value: Sendable>(
        limit: Duration? = nil, makes: Bool = false,
        _ work: @escaping @Sendable (RequestOutbox) async throws -> Value
    ) throws -> Value {
        switch try place() {
        case .files(let directory):
            return try Self.run(in: directory, limit: limit, makes: makes, work)
        case .service(let service):
            let directory = try Self.attempt(limit: limit) { try service.directory() }
            return try Self.run(in: directory, limit: limit, makes: makes, work)
        }
    }

    /// The same with the files of a state directory.
    static func run<Value: Sendable>(
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

    /// Runs what asks a service, in the same way.
    static func attempt<Value: Sendable>(
        limit: Duration? = nil, _ work: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        // First of all, for threads inherit what is done with signals.
        let vigil = try Vigil.begin(forTask: true, orExit: .inputOutput)
        let box = Mutex<Result<Value, any Error>?>(nil)
        let task = Task {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
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
            complain(error.spoken)
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
        case .keyTaken: self = .failure
        default: self = .inputOutput
        }
    }

    /// What a dead letter ends a command with, as `reach get` would.
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
