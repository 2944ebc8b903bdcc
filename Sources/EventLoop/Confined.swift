// SPDX-License-Identifier: Apache-2.0

/// A value that only one thread at a time touches, carried by an object that is shared.
///
/// Unchecked because the compiler cannot see threads. It holds because the loop hands the value out in one place
/// (`Loop.state`), and that place is reached only on the thread which `Loop.owner` names: the one that runs
/// the loop, or after its end the one that runs late work; the mailbox's lock lies between the two.
struct Confined<Value>: @unchecked Sendable {
    let value: Value
}
