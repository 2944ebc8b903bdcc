// SPDX-License-Identifier: Apache-2.0

/// A value that never changes and is handed on by reference: one count, however much it holds.
final class Boxed<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: consuming Value) { self.value = value }
}
