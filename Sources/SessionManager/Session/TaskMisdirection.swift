// SPDX-License-Identifier: Apache-2.0

/// What a task does about 421 (Misdirected Request): once more, over a connection of its own.
///
/// Such a request was not carried out, so that the method does not matter (RFC 9110 §15.5.20). A second refusal by the same target is the
/// response.
struct TaskMisdirection {
    /// The answer of the exchange under way is one, and the request leaves again.
    var isPending = false
    /// Whether the next exchanges may use no connection that is there already.
    private(set) var needsNewConnection = false

    /// A head with status 421 has come: whether the request leaves again.
    mutating func isNew(canRepeat: Bool) -> Bool {
        guard canRepeat, !needsNewConnection else { return false }
        isPending = true
        return true
    }

    /// The exchange is over.
    mutating func leave() {
        isPending = false
        needsNewConnection = true
    }
}
