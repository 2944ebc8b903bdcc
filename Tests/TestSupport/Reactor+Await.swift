// SPDX-License-Identifier: Apache-2.0

package import EventLoop

extension Reactor {
    /// Runs `body` on the loop's thread and waits for what it returns or throws.
    @discardableResult
    package func result<Value: Sendable>(
        of body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            perform { continuation.resume(with: Result { try body() }) }
        }
    }
}
