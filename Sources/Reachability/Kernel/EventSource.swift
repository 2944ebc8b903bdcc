// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// A source of events: the kernel, or a recording; it is called, and calls `deliver`, on the loop's thread.
package protocol EventSource: AnyObject {
    /// Starts to deliver; events from the same read of the kernel's queue come as one batch.
    ///
    /// After it returns, every change leads to an event, so a snapshot taken then misses nothing.
    func start(deliver: @escaping ([NetworkEvent]) -> Void) throws(ReachabilityError)

    /// Ends the delivery and closes the sockets; repeated calls do nothing.
    func stop()

    /// Sets the monitored hosts, so that events about routes to them alone pass too.
    func setHosts(_ hosts: [IPAddress])

    /// Dropped messages since the start: malformed, or not from the kernel.
    var discarded: UInt64 { get }

    /// The limitations of its events at this moment.
    var limitations: MonitorLimitations { get }
}
