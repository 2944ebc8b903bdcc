// SPDX-License-Identifier: Apache-2.0

/// An object that belongs to a reactor's thread, held by those who do not run there.
///
/// Unchecked because the compiler cannot see threads. It holds because the object is handed out in one place, and
/// that place is reached only on the reactor's thread.
///
/// An actor on the reactor does the same at a price: to let a descriptor's handler in (`assumeIsolated`), the runtime
/// looks for the main actor's executor among all conformances of the program, each time the loop has been idle.
package struct LoopBound<Object: AnyObject>: @unchecked Sendable {
    private let object: Object
    /// Where the object lives.
    package let reactor: Reactor

    /// Binds an object to a reactor: from now on only its thread uses it.
    package init(_ object: Object, to reactor: Reactor) {
        self.object = object
        self.reactor = reactor
    }

    /// Runs `body` with the object; to be called on the reactor's thread.
    package func here<Result>(_ body: (Object) -> Result) -> Result {
        precondition(reactor.isCurrent, "not on the reactor's thread")
        return body(object)
    }

    /// Has the reactor's thread run `body` with the object, in order with other work.
    package func perform(_ body: @escaping @Sendable (Object) -> Void) {
        reactor.perform { here(body) }
    }
}
