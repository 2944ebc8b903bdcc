// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ReachabilityRecording

/// Generates any value of a recording, reproducibly for each seed.
struct RecordingGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// SplitMix64 (Steele, Lea, Flood 2014).
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
    mutating func flag() -> Bool { next() & 1 == 1 }

    /// Small numbers and the limits of the type as often as other values.
    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number {
        switch below(5) {
        case 0: .max
        case 1: .min
        case 2: 0
        case 3: Number(truncatingIfNeeded: below(100))
        default: Number(truncatingIfNeeded: next())
        }
    }

    mutating func maybe<Value>(_ value: (inout Self) -> Value) -> Value? { flag() ? value(&self) : nil }

    /// Text with everything that can confuse the reader.
    mutating func text() -> String {
        let pieces = [
            "eth0", " ", "\n", "=", "%", "%41", ",", "/", "=>", "\u{1B}[31m", "é", "日本", "\u{202E}", "\0", "",
            "same", "name=x", "\r\n", "🛰️", "\u{85}", "+", "#", ":", "a\tb", "\u{301}",
        ]
        return (0..<below(5)).map { _ in pieces[below(pieces.count)] }.joined()
    }

    mutating func address() -> IPAddress {
        switch below(4) {
        case 0: IPAddress(v4: number())
        case 1: IPAddress(v6High: number(), low: number())
        case 2: IPAddress(v6High: 0, low: 0xFFFF_0000_0000 | next() & 0xFFFF_FFFF)
        default: IPAddress(v6High: 0xFE80 << 48, low: next())
        }
    }

    mutating func prefix() -> IPPrefix {
        while true {
            let address = address()
            if let prefix = IPPrefix(address, length: below(address.bitWidth + 1)) { return prefix }
        }
    }

    mutating func duration() -> Duration {
        let seconds = Int64(below(1_000_000)) * (flag() ? 1 : 0)
        let duration = Duration.seconds(seconds) + .nanoseconds(Int64(below(1_000_000_000)))
        return flag() ? duration : .zero - duration
    }

    mutating func link() -> LinkState {
        var link = LinkState(
            index: number(), name: text(), flags: LinkState.Flags(rawValue: number()),
            operationalState: LinkState.OperationalState(rawValue: UInt8(below(7))) ?? .unknown,
            hardwareType: number(), kind: maybe { $0.text() }, master: maybe { $0.number() },
            lower: maybe { $0.number() }, lowerIsElsewhere: flag(), remote: maybe { $0.address() },
            activePort: maybe { $0.number() }, carrierUpCount: number(), carrierDownCount: number())
        link.mtu = maybe { $0.number() }
        link.isProtocolDown = flag()
        link.bridgePortState = maybe { .init(rawValue: UInt8($0.below(5))) ?? .disabled }
        link.ipv6 = maybe {
            .init(isDisabled: $0.flag(), forwards: $0.flag(), acceptsAdvertisements: $0.number())
        }
        return link
    }

    mutating func interfaceAddress() -> InterfaceAddress {
        InterfaceAddress(
            interface: number(), address: address(), prefixLength: below(200),
            flags: InterfaceAddress.Flags(rawValue: number()))
    }

    mutating func event() -> NetworkEvent {
        switch below(16) {
        case 0: .linkChanged(link(), isWirelessNoise: flag())
        case 1: .linkRemoved(index: number())
        case 2: .addressAdded(interfaceAddress())
        case 3: .addressRemoved(interfaceAddress())
        case 4: .routeAdded(prefix(), through: maybe { $0.number() })
        case 5: .routeRemoved(prefix(), through: maybe { $0.number() })
        case 6: .ruleChanged(flag() ? .ipv4 : .ipv6)
        case 7: .nexthopChanged(number())
        case 8: .wirelessChanged(index: number())
        case 9: .overrun
        case 10: .reopened
        case 11: .resumed(after: duration())
        case 12: .destinationsChanged
        case 13: .settingChanged(flag() ? .ipv4 : .ipv6)
        case 14: .routerChanged(interface: number())
        default: .requested
        }
    }

    mutating func question() -> KernelQuestion {
        switch below(10) {
        case 0:
            .route(
                RouteLookup(
                    destination: address(), interface: number(), source: maybe { $0.address() },
                    wantsEntry: flag(), mark: number(), user: maybe { $0.number() }, port: number(),
                    sourcePort: number()))
        case 1: .link(number())
        case 2: .linkNamed(LinkName(text()))
        case 3: .links
        case 4: .ports(master: number())
        case 5: .addresses
        case 6: .wireless(number())
        case 7: .rules
        case 8: .lease(number(), name: LinkName(text()))
        default: .device(number(), name: LinkName(text()))
        }
    }

    mutating func answer() -> KernelAnswer {
        switch below(9) {
        case 0: .route(route())
        case 1: .link(link())
        case 2: .links((0..<below(4)).map { _ in link() })
        case 3: .addresses((0..<below(4)).map { _ in interfaceAddress() })
        case 4:
            .wireless(
                WirelessState(
                    mode: number(), ssid: maybe { $0.text() },
                    accessPoint: maybe { generator in
                        (0..<generator.below(9)).map { _ in generator.number() }
                    }, signal: maybe { $0.number() }))
        case 5:
            .device(
                DeviceFacts(
                    type: maybe { $0.text() }, hasPhy80211: flag(), hasWirelessExtensions: flag(),
                    isRadioBlocked: flag(), driver: maybe { $0.text() }))
        case 7: .meteredLease(maybe { $0.address() })
        case 6:
            .rules(
                PolicyRules(
                    ipv4: PolicyRules.Selectors(rawValue: UInt8(below(4))),
                    ipv6: PolicyRules.Selectors(rawValue: UInt8(below(4))),
                    exemptions: RuleExemptions(
                        marks: (0..<below(4)).map { _ in number() },
                        users: (0..<below(3)).map { _ in number() },
                        destinations: (0..<below(3)).map { _ in address() },
                        refusing: Set(IPAddress.Family.allCases.filter { _ in flag() }))))
        default: .failure(number())
        }
    }

    private mutating func route() -> RouteAnswer {
        let kinds: [RouteAnswer.Kind] = [
            .unicast, .local, .broadcast, .anycast, .multicast, .blackhole, .unreachable, .prohibit, .throw,
            .other(number()),
        ]
        return RouteAnswer(
            kind: kinds[below(kinds.count)], interface: maybe { $0.number() },
            gateway: maybe { $0.address() },
            source: maybe { $0.address() }, prefixLength: below(129), metric: number(), table: number(),
            legs: (0..<below(3)).map { _ in
                RouteAnswer.Leg(
                    interface: number(), gateway: maybe { $0.address() }, isDead: flag(), isLinkDown: flag())
            }, expires: maybe { $0.number() }, nexthop: maybe { $0.number() })
    }

    mutating func snapshot() -> Snapshot {
        var snapshot = Snapshot()
        for _ in 0..<below(40) { snapshot.add(question(), answer()) }
        return snapshot
    }

    mutating func item() -> RecordedItem {
        let instant = MonotonicInstant(nanoseconds: number())
        switch below(8) {
        case 0: return .events((0..<below(4)).map { _ in event() }, at: instant)
        case 1, 2: return .evaluated(snapshot(), at: instant, took: duration())
        case 3:
            return .unanswered(
                ReachabilityError(
                    ReachabilityError.Code(rawValue: text()), errno: number(), context: text(), advice: text()
                ),
                at: instant)
        case 4: return .elapsed(at: instant)
        case 5:
            return .resolved(
                (0..<below(3)).map { _ in ReachabilityDestination(address(), zone: maybe { $0.text() }) },
                at: instant)
        case 6:
            return .unresolved(flag() ? .temporary(text()) : .noSuchName(text()), at: instant)
        default:
            return flag()
                ? .stopped(at: instant) : .clockSet(WallTime(nanoseconds: Int64(below(1 << 60))), at: instant)
        }
    }

    mutating func header() -> RecordingHeader {
        var header = RecordingHeader(
            start: MonotonicInstant(nanoseconds: number()),
            wall: WallTime(nanoseconds: Int64(below(1 << 60))),
            host: maybe { $0.text() })
        header.configuration.family = maybe { $0.flag() ? .ipv4 : .ipv6 }
        header.configuration.mark = number()
        header.configuration.user = maybe { $0.number() }
        header.configuration.port = number()
        header.configuration.sentinels = (0..<below(4)).map { _ in address() }
        header.configuration.expensiveInterfaces = Set((0..<below(3)).map { _ in "if " + text() })
        header.configuration.constrainedInterfaces = Set((0..<below(3)).map { _ in "if " + text() })
        for metered in Metered.allCases where flag() {
            header.configuration.metered["if " + text()] = metered
            if flag() { header.configuration.meteredNetworks["=" + text()] = metered }
        }
        header.configuration.reportsLinks = flag()
        header.configuration.timing.lossGrace = duration()
        header.configuration.timing.dampingThreshold = below(10)
        header.configuration.timing.safetyInterval = maybe { $0.duration() }
        header.configuration.requirement = maybe {
            $0.flag() ? .medium(.cellular) : .interface("if " + $0.text())
        }
        header.configuration.timing.partialSafetyInterval = maybe { $0.duration() }
        header.configuration.timing.pollInterval = maybe { $0.duration() }
        return header
    }
}
