// SPDX-License-Identifier: Apache-2.0

import CLinux
import CTestSupport
import EventLoop
import Glibc

/// A program that runs in a namespace while a test continues.
///
/// It is killed when this object is released, and by the kernel when the test process ends.
package final class RunningProgram: Sendable {
    /// The lines of its standard output, for any number of readers.
    package let output = EventLog<String>()
    /// The same lines as a sequence for one reader; it ends with the program.
    package let lines: AsyncStream<String>
    /// How it ended: one element, after its last line.
    package let end = EventLog<ExitStatus>()
    private let child: LabChild
    private let errors: LabFile

    /// Starts a program; called on the namespace's thread.
    fileprivate init(_ command: [String], in namespace: NetworkNamespace) throws {
        let reactor = namespace.reactor
        let pipe = try LabPipe()
        _ = fcntl(pipe.reading.number, F_SETFL, O_NONBLOCK)
        let input = try LabFile()
        errors = try LabFile()
        // The kernel sends the signal when the *thread* that spawned it ends (PR_SET_PDEATHSIG, prctl(2)).
        child = try LabChild(
            ["setpriv", "--pdeathsig", "KILL", "--"] + command, input: input.descriptor.number,
            output: pipe.writing.number, errors: errors.descriptor.number)
        withExtendedLifetime(input) {}

        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        lines = stream
        let reader = LabLines(pipe.reading) { [output] line in
            output.append(line)
            continuation.yield(line)
        }
        try reactor.watch(reader.descriptor.number, for: .readable) { _ in
            if !reader.read() { reactor.change(reader.descriptor.number, to: []) }
        }
        try namespace.whenEnded(child) { [end] status in
            reactor.unwatch(reader.descriptor.number)
            reader.finish()
            continuation.finish()
            end.append(status)
        }
    }

    deinit { child.send(SIGKILL) }

    /// Everything it has written to standard error so far.
    package var standardError: String { errors.content }

    /// The memory it occupies at this moment, in KiB; nil once it has ended.
    package var residentKiB: Int? { child.residentKiB }

    /// Sends a signal, SIGTERM by default.
    package func terminate(signal: Int32 = SIGTERM) { child.send(signal) }

    /// Waits for its end, with a time limit.
    package func status(within limit: Duration = .seconds(60)) async throws -> ExitStatus {
        guard let status = await end.wait(forCount: 1, within: limit).first else {
            throw LabError("still running after \(limit); its output: \(output.elements), \(standardError)")
        }
        return status
    }
}

extension NetworkNamespace {
    /// Starts a program in the namespace and returns at once.
    package func start(_ command: String...) async throws -> RunningProgram { try await start(command) }

    /// Starts a program in the namespace and returns at once.
    package func start(_ command: [String]) async throws -> RunningProgram {
        try await perform { [self] in try RunningProgram(command, in: self) }
    }
}
