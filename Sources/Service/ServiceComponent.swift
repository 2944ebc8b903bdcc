// SPDX-License-Identifier: Apache-2.0

package import ServiceCore

/// A part of the service that handles changes: notifies clients, writes a file, stores the history.
///
/// Everything is called on the loop's thread and must return soon. What blocks (fsync, rename, SQLite)
/// belongs on a thread of the component's own, whose results come back by `Reactor.perform`. A component
/// keeps no reference to the context beyond its own life.
package protocol ServiceComponent: AnyObject {
    /// A short name, for the log.
    var name: String { get }

    /// Begins, before the first status is known.
    ///
    /// - Throws: where the service cannot run without it; the service then does not start and prints the
    ///   error.
    func start(_ context: ServiceContext) throws(ServiceError)

    /// The status or the path has changed; the first call brings how things are.
    func statusChanged(_ change: CommittedChange)

    /// The state of the internet has changed, or is not probed any more; `change` is the newest one with
    /// that.
    func internetChanged(_ change: CommittedChange)

    /// SIGHUP: takes over what has changed in its configuration and opens its files anew.
    func reload(_ configuration: ServiceConfiguration)

    /// SIGUSR1: one line about its state for the log; nil where there is nothing to say.
    var stateLine: String? { get }

    /// Ends; `done` is called on the loop, once, when nothing is left to be written.
    ///
    /// The service waits for all parts together for 1.5 seconds.
    func stop(_ done: @escaping () -> Void)
}

extension ServiceComponent {
    package func statusChanged(_ change: CommittedChange) {}
    package func internetChanged(_ change: CommittedChange) {}
    package func reload(_ configuration: ServiceConfiguration) {}
    package var stateLine: String? { nil }
    package func stop(_ done: @escaping () -> Void) { done() }
}
