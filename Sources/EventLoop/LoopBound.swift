// SPDX-License-Identifier: Apache-2.0

/// An object that belongs to a reactor's thread, carried by code that runs elsewhere.
///
/// Unchecked because the compiler cannot see threads: `here` alone hands the object out, on that thread only.
/// An actor would cost more: `assumeIsolated` in a handler searches all conformances of the program for the
/// main actor's executor, each time the loop has been idle.
package struct LoopBound<Object: AnyObject>: @unchecked Sendable {
    private let object: Object
    /// The reactor whose thread uses the object.
    package let reactor: Reactor

    /// Binds an object to a reactor; afterwards only the reactor's thread uses it.
    package init(_ object: Object, to reactor: Reactor) {
        self.object = object
        self.reactor = reactor
    }

    /// Runs `body` with the object; called on the reactor's thread.
    package func here<Result>(_ body: (Object) -> Result) -> Result {
        precondition(reactor.isCurrent, "not on the reactor's thread")
        return body(object)
    }

    /// Runs `body` with the object on the reactor's thread, in order with other work.
    package func perform(_ body: @escaping @Sendable (Object) -> Void) { reactor.perform { here(body) } }
}

/// A closure that belongs to a reactor's thread; ``LoopBound`` carries it.
package final class LoopCallback<Value> {
    package let call: (Value) -> Void

    package init(_ call: @escaping (Value) -> Void) { self.call = call }
}

/// A value that one thread at a time uses, inside an object that threads share.
///
/// Unchecked because the compiler cannot see threads: `Loop.state` alone hands the value out, on the thread
/// that `Loop.owner` names: the loop's, or after its end that of late work; the queue's lock orders the two.
struct Confined<Value>: @unchecked Sendable {
    let value: Value
}
