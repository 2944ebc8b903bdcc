// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// What was found behind one uplink: a link with a path of its own, whether the kernel prefers it or not.
public struct UplinkInternet: Sendable, Equatable {
    /// The interface.
    public let interface: String
    /// Whether it carries the path in use.
    public package(set) var isPreferred: Bool
    /// What was found.
    public package(set) var state: InternetState
    /// The evidence, without a full stop: "204 from https://…", "no answer in 10 s", "no name: …"; or why it is
    /// not asked.
    public package(set) var reason: String
    /// Where to sign in, if a redirect says so.
    public package(set) var portalURL: URL?
    /// ``portalURL`` as text.
    package var portal: String? { portalURL?.absoluteString }
    /// Since when the state holds.
    public var since: Date { Date(timeIntervalSince1970: Double(wall) / 1e9) }

    /// The same, in nanoseconds since 1970, and by the boot clock (CLOCK_BOOTTIME), which is never set.
    package var wall: Int64
    package var boot: Int64
    /// The next router, and what the kernel knows of it since the last question; nil without one.
    package var router: UplinkRouter?
    /// Whether nothing at all came back.
    package var isSilent: Bool
    /// How many answers have counted so far.
    package var answers = 0
    package var traits = UplinkTraits()

    package init(
        interface: String, isPreferred: Bool = false, _ known: InternetAnswer, wall: Int64, boot: Int64,
        router: UplinkRouter? = nil
    ) {
        self.interface = interface
        self.isPreferred = isPreferred
        state = known.state
        reason = known.reason
        portalURL = known.portalURL
        isSilent = known.isSilence
        self.wall = wall
        self.boot = boot
        self.router = router
    }

    /// Whether it says something else than another: the evidence alone is no change.
    package func differs(from other: UplinkInternet) -> Bool {
        interface != other.interface || isPreferred != other.isPreferred || state != other.state
            || portalURL != other.portalURL
    }

    /// Smaller differences come from reading one clock after the other.
    private static let slack: Int64 = 1_000_000_000

    /// Moves ``since`` if the wall clock was set meanwhile.
    package mutating func correct(wall now: Int64, boot bootNow: Int64) {
        let moved = now &- (bootNow &- boot)
        if abs(moved &- wall) >= Self.slack { wall = moved }
    }
}

/// The router of an uplink, and whether it answers its neighbour.
package struct UplinkRouter: Sendable, Equatable {
    /// What the kernel knows from its own questions (ARP, neighbour discovery).
    package enum Standing: String, Sendable, Equatable {
        case unknown, answers, silent
    }

    package var address: String
    package var standing: Standing

    package init(address: String, standing: Standing = .unknown) {
        self.address = address
        self.standing = standing
    }
}
