// SPDX-License-Identifier: Apache-2.0

extension SessionError {
    /// The session error that `error` is, and those underneath, the outermost first; empty for foreign errors.
    package static func chain(of error: any Error) -> [SessionError] {
        var chain: [SessionError] = []
        var next = error as? SessionError
        // Nobody nests deeper; somebody's own circle of errors must not hold us.
        while let current = next, chain.count < 16 {
            chain.append(current)
            next = current.underlying as? SessionError
        }
        return chain
    }
}
