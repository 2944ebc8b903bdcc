// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// A source of events: the kernel, or a recording.
///
/// The loop's thread calls both methods, and runs `deliver`.
package protocol EventSource: AnyObject {
    /// Starts to deliver; events from the same read of the kernel's queue come as one batch.
    ///
    /// After it returns, every change of the network leads to an event, so a snapshot taken then misses
    /// nothing.
    func start(deliver: @escaping ([NetworkEvent]) -> Void) throws(ReachabilityError)

    /// Ends the delivery and closes the sockets; repeated calls do nothing.
    func stop()

    /// Sets the monitored hosts, so that events about routes to them alone pass too.
    func watch(_ destinations: [IPAddress])

    /// Dropped messages since the start: malformed, or not from the kernel.
    var discarded: UInt64 { get }

    /// The limitations of its events at this moment.
    var limitations: MonitorLimitations { get }
}
