// SPDX-License-Identifier: Apache-2.0

package import ServiceCore

/// A part of the service that handles changes: notifies clients, writes a file, stores the history.
///
/// All methods are called on the loop's thread and must return soon. Blocking work (fsync, rename, SQLite)
/// belongs on a thread of the component's own, whose results come back by `Reactor.perform`. A component
/// drops its reference to the context when it ends.
package protocol ServiceComponent: AnyObject {
    /// A short name, for the log.
    var name: String { get }
    /// Whether it starts before the others, because it fails where another service runs.
    ///
    /// The others then leave the files of that service as they are.
    var startsFirst: Bool { get }

    /// Starts, before the first status is known.
    ///
    /// - Throws: if the service cannot run without it; the service then does not start and prints the error.
    func start(_ context: ServiceContext) throws(ServiceError)

    /// The status or the path has changed; the first call has the initial state.
    func statusChanged(_ change: CommittedChange)

    /// Links have changed and the path has not; `change` is the newest one with these links.
    func linksChanged(_ change: CommittedChange)

    /// The state of the internet has changed, or is not probed any more; `change` is the newest one with that
    /// state.
    func internetChanged(_ change: CommittedChange)

    /// SIGHUP: applies changes of its configuration and reopens its files.
    func reload(_ configuration: ServiceConfiguration)

    /// SIGUSR1: one line about its state for the log; nil for none.
    var stateLine: String? { get }

    /// Ends; `done` is called on the loop, once, when all data is written.
    ///
    /// The service waits for all components together for 1.5 seconds.
    func stop(_ done: @escaping () -> Void)
}

extension ServiceComponent {
    package var startsFirst: Bool { false }
    package func statusChanged(_ change: CommittedChange) {}
    package func linksChanged(_ change: CommittedChange) {}
    package func internetChanged(_ change: CommittedChange) {}
    package func reload(_ configuration: ServiceConfiguration) {}
    package var stateLine: String? { nil }
    package func stop(_ done: @escaping () -> Void) { done() }
}
