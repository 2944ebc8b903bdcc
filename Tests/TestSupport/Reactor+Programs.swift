// SPDX-License-Identifier: Apache-2.0

import CLinux
import CTestSupport
package import EventLoop
import Glibc
import Synchronization

/// How a program ended, and its output.
package struct ProgramResult: Sendable {
    package let status: ExitStatus
    /// Its standard output.
    package let output: [UInt8]
    /// Its standard error.
    package let errors: String

    /// Its standard output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }
}

extension Reactor {
    /// Runs a program from the loop's thread, in the namespaces of that thread, and waits for its end.
    ///
    /// A cancelled task kills it.
    package func run(_ command: [String], input: [UInt8] = []) async throws -> ProgramResult {
        let (input, output, errors) = (try LabFile(bytes: input), try LabFile(), try LabFile())
        let child = Mutex<(LabChild?, isCancelled: Bool)>((nil, false))
        let status = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                perform { [self] in
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
        return ProgramResult(status: status, output: output.bytes, errors: errors.content)
    }

    /// Calls back on the loop's thread when a child has ended; called on that thread.
    func whenEnded(_ child: LabChild, _ body: @escaping (ExitStatus) -> Void) throws(ReactorError) {
        // The handler retains the loop, so that no child outlives the thread that reaps it.
        try watch(child.descriptor.number, for: .readable) { [self] _ in
            unwatch(child.descriptor.number)
            body(child.reap())
        }
    }
}
