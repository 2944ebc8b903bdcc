// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

// The words for questions and answers.

extension TextLine {
    mutating func append(_ question: KernelQuestion) {
        switch question {
        case .route(let lookup):
            append("route ")
            append(lookup.destination)
            if lookup.interface != 0 { key("oif", lookup.interface) }
            key("from", lookup.source)
            flag("entry", lookup.wantsEntry)
            if lookup.mark != 0 { key("mark", lookup.mark) }
            if let user = lookup.user { key("uid", user) }
            if lookup.port != 0 { key("tcp", lookup.port) }
            if lookup.sourcePort != 0 { key("sport", lookup.sourcePort) }
        case .link(let index): append("link", key: "index", index)
        case .linkNamed(let name):
            append("link")
            key("name", escaped: name.text)
        case .links: append("links")
        case .ports(let master): append("ports", key: "master", master)
        case .addresses: append("addresses")
        case .rules: append("rules")
        case .wireless(let index): append("wireless", key: "index", index)
        case .device(let index, let name):
            append("device")
            key("index", index)
            key("name", escaped: name.text)
        case .lease(let index, let name):
            append("lease")
            key("index", index)
            key("name", escaped: name.text)
        }
    }

    /// The line of an answer; the members of a list follow on lines of their own.
    mutating func append(_ answer: KernelAnswer) {
        switch answer {
        case .route(let route): append(route)
        case .link(let link):
            append("link")
            append(link)
        case .links(let links): append("links", key: "count", links.count)
        case .addresses(let addresses): append("addresses", key: "count", addresses.count)
        case .rules(let rules):
            append("rules")
            append(rules.ipv4, of: "ipv4")
            append(rules.ipv6, of: "ipv6")
            append(rules.exemptions)
        case .wireless(let state):
            append("wireless")
            key("mode", state.mode)
            key("ssid", escaped: state.ssid)
            if let accessPoint = state.accessPoint {
                key("ap")
                for (position, byte) in accessPoint.enumerated() {
                    if position > 0 { append(":") }
                    append(hex: byte)
                }
            }
            if let signal = state.signal { key("signal", signal) }
        case .device(let facts):
            append("device")
            key("type", escaped: facts.type)
            flag("phy80211", facts.hasPhy80211)
            flag("wext", facts.hasWirelessExtensions)
            flag("blocked", facts.isRadioBlocked)
            key("driver", escaped: facts.driver)
        case .meteredLease(let address):
            append("lease")
            key("metered", address)
        case .failure(let number): append("failure", key: "errno", number)
        }
    }

    private mutating func append(_ exemptions: RuleExemptions) {
        func part<Element>(_ word: String, _ elements: [Element], _ write: (inout TextLine, Element) -> Void)
        {
            guard !elements.isEmpty else { return }
            key(word)
            list(elements, write)
        }
        part("marks", exemptions.marks) { $0.append($1) }
        part("users", exemptions.users) { $0.append($1) }
        part("to", exemptions.destinations) { $0.append($1) }
        part("refusing", IPAddress.Family.allCases.filter(exemptions.refusing.contains)) {
            $0.append($1.rawValue)
        }
    }

    private mutating func append(_ selectors: PolicyRules.Selectors, of family: String) {
        let words = PolicyRules.Selectors.words.filter { selectors.contains($0.selector) }
        guard !words.isEmpty else { return }
        key(family)
        list(words) { $0.append($1.word) }
    }

    private mutating func append(_ route: RouteAnswer) {
        append("route ")
        append(route.kind.word)
        key("via", route.gateway)
        if let interface = route.interface { key("dev", interface) }
        key("src", route.source)
        key("prefix", route.prefixLength)
        key("metric", route.metric)
        key("table", route.table)
        if !route.legs.isEmpty {
            key("legs")
            list(route.legs) { line, leg in
                line.append(leg.interface)
                if let gateway = leg.gateway {
                    line.append("/")
                    line.append(gateway)
                }
                if leg.isDead { line.append("/dead") }
                if leg.isLinkDown { line.append("/linkdown") }
            }
        }
        if let expires = route.expires { key("expires", expires) }
        if let nexthop = route.nexthop { key("nhid", nexthop) }
    }
}
