// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Synchronization

extension NetworkNamespace {
    /// Runs a program in the namespace and waits for its end.
    ///
    /// - Returns: its standard output.
    /// - Throws: `LabError` with its standard error, where it did not end with 0.
    @discardableResult
    package func run(_ command: String..., input: String = "") async throws -> String {
        try await run(command, input: input)
    }

    /// Runs a program in the namespace and waits for its end; a cancelled task kills it.
    @discardableResult
    package func run(_ command: [String], input: String = "") async throws -> String {
        let (input, output, errors) = (try LabFile(input), try LabFile(), try LabFile())
        let child = Mutex<(LabChild?, isCancelled: Bool)>((nil, false))
        let status = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                reactor.perform { [self] in
                    do {
                        let new = try LabChild(
                            command, input: input.descriptor.number, output: output.descriptor.number,
                            errors: errors.descriptor.number)
                        let isCancelled = child.withLock {
                            $0.0 = new
                            return $0.isCancelled
                        }
                        if isCancelled { new.send(SIGKILL) }
                        withExtendedLifetime((input, output, errors)) {}
                        try whenEnded(new) { continuation.resume(returning: $0) }
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            }
        } onCancel: {
            child.withLock {
                $0.0?.send(SIGKILL)
                $0.isCancelled = true
            }
        }
        guard status == .exited(0) else {
            throw LabError("\(command.joined(separator: " ")): \(status)\n\(errors.content)\(output.content)")
        }
        return output.content
    }

    /// Runs `ip` with these arguments, separated by spaces.
    @discardableResult
    package func ip(_ arguments: String) async throws -> String {
        try await run(["ip"] + arguments.split(separator: " ").map(String.init))
    }

    /// Runs many `ip` commands by one program, a line each (`ip -batch`); the first that fails ends them.
    package func ip(batch lines: String) async throws {
        try await run("ip", "-batch", "-", input: lines)
    }

    /// Asks `ip` again whenever links, addresses or routes have changed, until its answer satisfies `predicate`.
    ///
    /// - Throws: `LabError` with the last answer when `limit` is over.
    @discardableResult
    package func ip(
        _ arguments: String, within limit: Duration = .seconds(10),
        until predicate: (String) -> Bool
    ) async throws -> String {
        let deadline = ContinuousClock.now + limit
        let notices = try await LabNotices(in: self)
        while true {
            let seen = notices.log.elements.count
            let answer = try await ip(arguments)
            if predicate(answer) { return answer }
            let left = deadline - .now
            guard left > .zero else { throw LabError("still, after \(limit): ip \(arguments)\n\(answer)") }
            await notices.log.wait(within: left) { $0.count > seen }
        }
    }

    /// Calls back on the namespace's thread when a child has ended; to be called there.
    func whenEnded(
        _ child: LabChild, _ body: @escaping (ExitStatus) -> Void
    ) throws(ReactorError) {
        // The handler keeps the namespace, so that no child outlives the thread that reaps it.
        try reactor.watch(child.descriptor.number, for: .readable) { [self] _ in
            reactor.unwatch(child.descriptor.number)
            body(child.reap())
        }
    }
}
