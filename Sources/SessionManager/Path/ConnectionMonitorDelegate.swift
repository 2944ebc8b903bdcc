// SPDX-License-Identifier: Apache-2.0

/// What a connection monitor asks and reports.
protocol ConnectionMonitorDelegate: AnyObject {
    /// Whether connections are bound to another interface while the one that the kernel chooses is dead.
    var rescues: Bool { get }
    /// Links, addresses or routes have changed.
    func recordChange()
    /// Whether all transfers over a connection want to leave it for a better path, and can.
    func mayMove(_ descriptor: Int32) -> Bool
    /// Connections have lost their path.
    func lost(_ losses: ConnectionMonitor.Losses)
}
