// SPDX-License-Identifier: Apache-2.0

import EventLoop

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
        let result = try await reactor.run(command, input: Array(input.utf8))
        guard result.status == .exited(0) else {
            throw LabError(
                "\(command.joined(separator: " ")): \(result.status)\n\(result.errors)\(result.text)")
        }
        return result.text
    }

    /// Runs `ip` with these arguments, separated by spaces.
    @discardableResult
    package func ip(_ arguments: String) async throws -> String {
        try await run(["ip"] + arguments.split(separator: " ").map(String.init))
    }

    /// Runs many `ip` commands in one process, one a line (`ip -batch`); the first failure ends them.
    @discardableResult
    package func ip(batch lines: String) async throws -> String {
        try await run("ip", "-batch", "-", input: lines)
    }

    /// Runs `ip` again whenever links, addresses or routes have changed, until its output satisfies
    /// `predicate`.
    ///
    /// - Throws: `LabError` with the last output at the time limit.
    @discardableResult
    package func ip(
        _ arguments: String, within limit: Duration = .seconds(60),
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

    /// Calls back on the namespace's thread when a child has ended; called on that thread.
    func whenEnded(
        _ child: LabChild, _ body: @escaping (ExitStatus) -> Void
    ) throws(ReactorError) {
        // The handler keeps the namespace, so that no child outlives the thread that reaps it.
        try reactor.whenEnded(child) { [self] status in withExtendedLifetime(self) { body(status) } }
    }
}
