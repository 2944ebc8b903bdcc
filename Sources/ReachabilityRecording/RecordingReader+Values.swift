// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

// How words become the values of a recording: the inverse of RecordingWriter+Values and +Answers.

extension LineWords {
    mutating func event() throws(Problem) -> NetworkEvent {
        let word = try next("an event")
        switch word {
        case "linkChanged":
            let isWirelessNoise = flag("noise")
            return .linkChanged(try link(), isWirelessNoise: isWirelessNoise)
        case "linkRemoved": return .linkRemoved(index: try index())
        case "addressAdded": return .addressAdded(try interfaceAddress())
        case "addressRemoved": return .addressRemoved(try interfaceAddress())
        case "routeAdded": return .routeAdded(try prefix(), through: try number("dev"))
        case "routeRemoved": return .routeRemoved(try prefix(), through: try number("dev"))
        case "ruleChanged": return .ruleChanged(try family(try next("a family")))
        case "settingChanged": return .settingChanged(try family(try next("a family")))
        case "nexthopChanged": return .nexthopChanged(try Self.number(try next("a number"), "nexthop"))
        case "routerChanged": return .routerChanged(interface: try required("dev", try number("dev")))
        case "wirelessChanged": return .wirelessChanged(index: try index())
        case "overrun": return .overrun
        case "reopened": return .reopened
        case "resumed": return .resumed(after: try required("after", try duration("after")))
        case "destinationsChanged": return .destinationsChanged
        case "requested": return .requested
        default: throw Problem("there is no event '\(Self.shown(word))'")
        }
    }

    private mutating func index() throws(Problem) -> Int32 { try required("index", try number("index")) }

    mutating func link() throws(Problem) -> LinkState {
        var link = LinkState(index: try index(), name: try required("name", try text("name")))
        link.flags = try flags(LinkState.Flags.words) ?? []
        if let word = try value("state") {
            guard let known = LinkState.OperationalState.words.first(where: { $0.word == word }) else {
                throw Problem("there is no state '\(Self.shown(word))'")
            }
            link.operationalState = known.state
        }
        link.hardwareType = try number("type") ?? 1
        link.kind = try text("kind")
        link.master = try number("master")
        link.lower = try number("lower")
        link.lowerIsElsewhere = flag("lowerElsewhere")
        link.remote = try address("remote")
        link.activePort = try number("activePort")
        link.carrierUpCount = try number("carrierUp") ?? 0
        link.carrierDownCount = try number("carrierDown") ?? 0
        // Missing in recordings of earlier versions.
        link.mtu = try number("mtu")
        link.isProtocolDown = flag("protodown")
        if let word = try value("portState") {
            guard let known = LinkState.BridgePortState.words.first(where: { $0.word == word }) else {
                throw Problem("there is no state of a port '\(Self.shown(word))'")
            }
            link.bridgePortState = known.state
        }
        if let advertisements: Int32 = try number("acceptRA") {
            let forwards = flag("forwarding")
            link.ipv6 = LinkState.IPv6Settings(
                isDisabled: flag("ipv6Off"), forwards: forwards, acceptsAdvertisements: advertisements)
        }
        return link
    }

    mutating func interfaceAddress() throws(Problem) -> InterfaceAddress {
        let address = try Self.address(try next("an address"))
        return InterfaceAddress(
            interface: try required("dev", try number("dev")), address: address,
            prefixLength: Int(try required("prefix", try number("prefix", UInt8.self))),
            flags: try flags(InterfaceAddress.Flags.words) ?? [])
    }

    /// A question; consumes the arrow after it.
    mutating func question() throws(Problem) -> KernelQuestion {
        // Only the words before the arrow belong to the question.
        var own = try upToArrow()
        let word = try own.next("a question")
        let question: KernelQuestion
        switch word {
        case "route":
            question = .route(
                RouteLookup(
                    destination: try Self.address(try own.next("an address")),
                    interface: try own.number("oif") ?? 0, source: try own.address("from"),
                    wantsEntry: own.flag("entry"),
                    mark: try own.number("mark") ?? 0, user: try own.number("uid"),
                    port: try own.number("tcp") ?? 0, sourcePort: try own.number("sport") ?? 0))
        case "link":
            if let name = try own.text("name") {
                question = .linkNamed(LinkName(name))
            } else {
                question = .link(try own.index())
            }
        case "links": question = .links
        case "ports": question = .ports(master: try own.required("master", try own.number("master")))
        case "addresses": question = .addresses
        case "rules": question = .rules
        case "wireless": question = .wireless(try own.index())
        case "device", "lease":
            let (index, name) = (
                try own.index(), LinkName(try own.required("name", try own.text("name")))
            )
            question = word == "device" ? .device(index, name: name) : .lease(index, name: name)
        default: throw Problem("there is no question '\(Self.shown(word))'")
        }
        try own.finish()
        return question
    }

    /// The part of an answer on its own line.
    enum AnswerLine {
        case single(KernelAnswer)
        case links(count: Int)
        case addresses(count: Int)
    }

    mutating func answer() throws(Problem) -> AnswerLine {
        let word = try next("an answer")
        switch word {
        case "route": return .single(.route(try route()))
        case "link": return .single(.link(try link()))
        case "links": return .links(count: try required("count", try number("count")))
        case "addresses": return .addresses(count: try required("count", try number("count")))
        case "rules":
            let rules = PolicyRules(
                ipv4: try selectors("ipv4"), ipv6: try selectors("ipv6"), exemptions: try exemptions())
            return .single(.rules(rules))
        case "wireless":
            var state = WirelessState(mode: try required("mode", try number("mode")), ssid: try text("ssid"))
            if let word = try value("ap") { state.accessPoint = try Self.hardwareAddress(word) }
            state.signal = try number("signal")
            return .single(.wireless(state))
        case "device":
            return .single(
                .device(
                    DeviceFacts(
                        type: try text("type"), hasPhy80211: flag("phy80211"),
                        hasWirelessExtensions: flag("wext"), isRadioBlocked: flag("blocked"),
                        driver: try text("driver"))))
        case "lease":
            return .single(.meteredLease(try address("metered")))
        case "failure": return .single(.failure(try required("errno", try number("errno"))))
        default: throw Problem("there is no answer '\(Self.shown(word))'")
        }
    }

    private mutating func exemptions() throws(Problem) -> RuleExemptions {
        var exemptions = RuleExemptions()
        for part in try parts("marks") { exemptions.add(mark: try Self.number(part, "marks")) }
        for part in try parts("users") { exemptions.add(user: try Self.number(part, "users")) }
        for part in try parts("to") { exemptions.add(destination: try Self.address(part)) }
        for part in try parts("refusing") { exemptions.add(refusing: try family(part)) }
        return exemptions
    }

    private mutating func parts(_ key: String) throws(Problem) -> [Substring] {
        try value(key)?.split(separator: ",") ?? []
    }

    private mutating func selectors(_ key: String) throws(Problem) -> PolicyRules.Selectors {
        var selectors: PolicyRules.Selectors = []
        for part in try parts(key) {
            guard let known = PolicyRules.Selectors.words.first(where: { $0.word == part }) else {
                throw Problem("rules look at no '\(Self.shown(part))'")
            }
            selectors.insert(known.selector)
        }
        return selectors
    }

    private static func hardwareAddress(_ word: Substring) throws(Problem) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in word.split(separator: ":") {
            guard part.utf8.count == 2, let byte = UInt8(part, radix: 16), bytes.count < 32 else {
                throw Problem("ap: '\(shown(word))' is not a hardware address")
            }
            bytes.append(byte)
        }
        return bytes
    }

    private mutating func route() throws(Problem) -> RouteAnswer {
        let word = try next("a route type")
        var route: RouteAnswer
        if let known = RouteAnswer.Kind.words.first(where: { $0.word == word }) {
            route = RouteAnswer(kind: known.kind)
        } else if word.hasPrefix("type-"), let number = UInt8(word.dropFirst(5)) {
            route = RouteAnswer(kind: .other(number))
        } else {
            throw Problem("there is no route type '\(Self.shown(word))'")
        }
        route.gateway = try address("via")
        route.interface = try number("dev")
        route.source = try address("src")
        route.prefixLength = Int(try number("prefix", UInt8.self) ?? 0)
        route.metric = try number("metric") ?? 0
        route.table = try number("table") ?? 254
        route.expires = try number("expires")
        route.nexthop = try number("nhid")
        for part in try value("legs")?.split(separator: ",") ?? [] {
            let words = part.split(separator: "/")
            guard let first = words.first else { throw Problem("a leg is empty") }
            var leg = RouteAnswer.Leg(interface: try Self.number(first, "legs"))
            for word in words.dropFirst() {
                switch word {
                case "dead": leg.isDead = true
                case "linkdown": leg.isLinkDown = true
                default: leg.gateway = try Self.address(word)
                }
            }
            route.legs.append(leg)
        }
        return route
    }
}
