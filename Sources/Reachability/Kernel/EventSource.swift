// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Where events come from: the kernel, or a recording.
///
/// Both methods are called on the loop's thread, and so is `deliver`.
package protocol EventSource: AnyObject {
    /// Begins to deliver; events that lie together in the kernel's queue come as one batch.
    ///
    /// When it returns, every later change of the network leads to an event: a snapshot taken now misses nothing.
    func start(deliver: @escaping ([NetworkEvent]) -> Void) throws(ReachabilityError)

    /// Ends the delivery and releases the sockets. Calling it twice does nothing.
    func stop()

    /// Tells which hosts are watched, so that routes which concern them alone count as well.
    func watch(_ destinations: [IPAddress])

    /// Messages dropped since the start because they were malformed or not the kernel's.
    var discarded: UInt64 { get }

    /// What its events lack at this moment.
    var limitations: MonitorLimitations { get }
}
