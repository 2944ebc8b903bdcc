// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import Synchronization

/// The process of the test origin: requests and replies are lines of JSON.
///
/// The process ends with its standard input: with this object, or with the test process.
final class OriginChannel: Sendable {
    private struct State {
        var next = 1
        /// The message of the ready process, which may come before a test waits for it.
        var first: String?
        var waiting: [Int: CheckedContinuation<String, any Error>] = [:]
        var failure: LabError?
    }

    private struct Head: Decodable {
        let id: Int
    }

    let reactor: Reactor
    /// How it ended: one element.
    let end = EventLog<ExitStatus>()
    private let state = Mutex(State())
    private let input: Mutex<OwnedDescriptor?>
    private let errors: LabFile

    /// Starts the process; its first message is the reply to request 0.
    init(_ command: [String]) async throws {
        reactor = try Reactor(name: "origin")
        errors = try LabFile()
        let pipe = try LabPipe()
        let source = pipe.reading.release()
        input = Mutex(pipe.writing)
        try await reactor.result { [self] in try start(command, from: OwnedDescriptor(adopting: source)) }
    }

    deinit { close() }

    /// Everything it has written to standard error so far.
    var standardError: String { errors.content }

    /// Sends a request, to which `{"id":…}` is added here, and waits for its reply.
    func ask(_ fields: String) async throws -> String {
        let id = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        return try await answer(to: id) { [self] in
            let line = Array("{\"id\":\(id),\(fields)}\n".utf8)
            // Shorter than PIPE_BUF, so it goes out as a whole (pipe(7)).
            let count = input.withLock { input in
                switch input {
                case .some(let pipe): write(pipe.number, line, line.count)
                case .none: -1
                }
            }
            if count != line.count { fail(LabError("the test origin takes no questions any more")) }
        }
    }

    /// Waits for the message of the ready process, with a time limit.
    func ready(within limit: Duration) async throws -> String {
        let alarm = Task { [weak self] in
            // The limit of the wait, for a message that does not come.
            try await Task.sleep(for: limit)
            self?.fail(LabError("the test origin is not ready after \(limit): \(self?.standardError ?? "")"))
        }
        defer { alarm.cancel() }
        return try await answer(to: 0) {}
    }

    /// Closes its standard input, which ends it.
    func close() { input.withLock { $0 = nil } }

    private func answer(to id: Int, asking ask: () -> Void) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            let (line, failure) = state.withLock { state in
                let line = id == 0 ? state.first : nil
                if line == nil, state.failure == nil { state.waiting[id] = continuation }
                return (line, state.failure)
            }
            if let line {
                continuation.resume(returning: line)
            } else if let failure {
                continuation.resume(throwing: failure)
            } else {
                ask()
            }
        }
    }

    /// On the loop's thread.
    private func start(_ command: [String], from source: consuming OwnedDescriptor) throws {
        let pipe = try LabPipe()
        _ = fcntl(pipe.reading.number, F_SETFL, O_NONBLOCK)
        let child = try LabChild(
            command, input: source.number, output: pipe.writing.number, errors: errors.descriptor.number)
        let lines = LabLines(pipe.reading) { [weak self] in self?.received($0) }
        let reactor = reactor
        try reactor.watch(lines.descriptor.number, for: .readable) { [unowned reactor] _ in
            if !lines.read() { reactor.change(lines.descriptor.number, to: []) }
        }
        try reactor.whenEnded(child) { [weak self, unowned reactor, end, errors] status in
            reactor.unwatch(lines.descriptor.number)
            lines.finish()
            self?.fail(LabError("the test origin ended (\(status)): \(errors.content)"))
            end.append(status)
        }
    }

    private func received(_ line: String) {
        guard let head = try? JSONDecoder().decode(Head.self, from: Data(line.utf8)) else { return }
        let continuation = state.withLock { state in
            if head.id == 0 { state.first = line }
            return state.waiting.removeValue(forKey: head.id)
        }
        continuation?.resume(returning: line)
    }

    private func fail(_ error: LabError) {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            if state.failure == nil { state.failure = error }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(throwing: error) }
    }
}
