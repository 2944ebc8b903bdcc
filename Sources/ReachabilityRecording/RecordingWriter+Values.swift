// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

// The words for values; every function that writes keys begins with a space.

extension TextLine {
    /// Begins ` word=`.
    mutating func key(_ word: String) {
        append(" ")
        append(word)
        append("=")
    }

    mutating func key(_ word: String, _ number: some FixedWidthInteger) {
        key(word)
        append(Int64(clamping: number))
    }

    mutating func append(_ word: String, key: String, _ number: some FixedWidthInteger) {
        append(word)
        self.key(key, number)
    }

    mutating func key(_ word: String, _ address: IPAddress?) {
        guard let address else { return }
        key(word)
        append(address)
    }

    mutating func key(_ word: String, escaped text: String?) {
        guard let text else { return }
        key(word)
        append(escaping: text)
    }

    mutating func flag(_ word: String, _ isSet: Bool) {
        guard isSet else { return }
        append(" ")
        append(word)
    }

    mutating func append(escaping text: String) {
        for scalar in text.unicodeScalars {
            if RecordingEscape.isPlain(scalar) {
                append(String(scalar))
            } else {
                for byte in UTF8.encode(scalar).map(Array.init) ?? [] {
                    append("%")
                    append(hex: byte)
                }
            }
        }
    }

    mutating func append(hex byte: UInt8) {
        for digit in [byte >> 4, byte & 15] { append(byte: digit < 10 ? 48 + digit : 87 + digit) }
    }

    mutating func list<Element>(_ elements: [Element], _ write: (inout TextLine, Element) -> Void) {
        for (position, element) in elements.enumerated() {
            if position > 0 { append(",") }
            write(&self, element)
        }
    }

    /// Seconds with nine fractional digits; with eighteen for finer values.
    mutating func append(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        if seconds < 0 || attoseconds < 0 { append("-") }
        append(seconds.magnitude)
        append(".")
        if attoseconds % 1_000_000_000 == 0 {
            append(Int64(attoseconds.magnitude / 1_000_000_000), digits: 9)
        } else {
            append(Int64(attoseconds.magnitude), digits: 18)
        }
    }

    mutating func append(_ prefix: IPPrefix) {
        append(prefix.address)
        append("/")
        append(prefix.length)
    }

    mutating func append<Flags: OptionSet>(
        flags: Flags, words: [(word: String, flag: Flags)]
    ) where Flags.RawValue == UInt32 {
        key("flags")
        var rest = flags.rawValue
        var isFirst = true
        for (word, flag) in words where rest & flag.rawValue != 0 {
            rest &= ~flag.rawValue
            if !isFirst { append(",") }
            isFirst = false
            append(word)
        }
        guard rest != 0 || isFirst else { return }
        if !isFirst { append(",") }
        append("0x")
        append(String(rest, radix: 16))
    }

    mutating func append(_ event: NetworkEvent) {
        switch event {
        case .linkChanged(let link, let isWirelessNoise):
            append("linkChanged")
            append(link)
            flag("noise", isWirelessNoise)
        case .linkRemoved(let index): append("linkRemoved", key: "index", index)
        case .addressAdded(let address):
            append("addressAdded")
            append(address)
        case .addressRemoved(let address):
            append("addressRemoved")
            append(address)
        case .routeAdded(let prefix, let interface):
            append("routeAdded ")
            append(prefix)
            if let interface { key("dev", interface) }
        case .routeRemoved(let prefix, let interface):
            append("routeRemoved ")
            append(prefix)
            if let interface { key("dev", interface) }
        case .ruleChanged(let family):
            append("ruleChanged ")
            append(family.rawValue)
        case .settingChanged(let family):
            append("settingChanged ")
            append(family.rawValue)
        case .nexthopChanged(let number):
            append("nexthopChanged ")
            append(number)
        case .routerChanged(let interface): append("routerChanged", key: "dev", interface)
        case .wirelessChanged(let index): append("wirelessChanged", key: "index", index)
        case .overrun: append("overrun")
        case .reopened: append("reopened")
        case .resumed(let duration):
            append("resumed after=")
            append(duration)
        case .destinationsChanged: append("destinationsChanged")
        case .requested: append("requested")
        }
    }

    mutating func append(_ link: LinkState) {
        key("index", link.index)
        key("name", escaped: link.name)
        append(flags: link.flags, words: LinkState.Flags.words)
        key("state")
        append(link.operationalState.word)
        key("type", link.hardwareType)
        key("kind", escaped: link.kind)
        if let master = link.master { key("master", master) }
        if let lower = link.lower { key("lower", lower) }
        flag("lowerElsewhere", link.lowerIsElsewhere)
        key("remote", link.remote)
        if let port = link.activePort { key("activePort", port) }
        if link.carrierUpCount != 0 { key("carrierUp", link.carrierUpCount) }
        if link.carrierDownCount != 0 { key("carrierDown", link.carrierDownCount) }
        if let mtu = link.mtu { key("mtu", mtu) }
        flag("protodown", link.isProtocolDown)
        if let state = link.bridgePortState {
            key("portState")
            append(state.word)
        }
        if let ipv6 = link.ipv6 {
            key("acceptRA", ipv6.acceptsAdvertisements)
            flag("forwarding", ipv6.forwards)
            flag("ipv6Off", ipv6.isDisabled)
        }
    }

    mutating func append(_ address: InterfaceAddress) {
        append(" ")
        append(address.address)
        key("prefix", address.prefixLength)
        key("dev", address.interface)
        if !address.flags.isEmpty { append(flags: address.flags, words: InterfaceAddress.Flags.words) }
    }
}
