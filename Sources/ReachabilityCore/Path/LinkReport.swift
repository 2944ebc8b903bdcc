// SPDX-License-Identifier: Apache-2.0

/// One interface as a field engineer sees it: is it online, and if not, what is missing.
public struct LinkReport: Sendable, Equatable {
    /// The name.
    public package(set) var name: String
    /// The interface index.
    public package(set) var index: Int32
    /// Its own kind.
    public package(set) var medium: Medium
    /// Whether it has a usable path of its own, preferred by the kernel or not.
    public package(set) var isOnline: Bool
    /// What is there, or the first thing that is missing.
    public package(set) var reason: ReachabilityReason
    /// The addresses with their prefix lengths, as text.
    public package(set) var addresses: [String]
    /// The next router of its own path.
    public package(set) var gateway: IPAddress?
    /// The metric of its own path.
    public package(set) var metric: UInt32?

    package init(
        name: String, index: Int32, medium: Medium, isOnline: Bool, reason: ReachabilityReason,
        addresses: [String] = [], gateway: IPAddress? = nil, metric: UInt32? = nil
    ) {
        self.name = name
        self.index = index
        self.medium = medium
        self.isOnline = isOnline
        self.reason = reason
        self.addresses = addresses
        self.gateway = gateway
        self.metric = metric
    }
}
