// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

// The words for the kernel's numbers, shared by reader and writer.

extension LinkState.Flags {
    /// The names of netdevice(7) without `IFF_`; other bits as one hexadecimal number.
    static let words: [(word: String, flag: Self)] = [
        ("UP", .up), ("LOOPBACK", .loopback), ("POINTOPOINT", .pointToPoint), ("RUNNING", .running),
        ("LOWER_UP", .lowerUp), ("DORMANT", .dormant),
    ]
}

extension InterfaceAddress.Flags {
    /// The names of linux/if_addr.h without `IFA_F_`.
    static let words: [(word: String, flag: Self)] = [
        ("TEMPORARY", .temporary), ("OPTIMISTIC", .optimistic), ("DADFAILED", .duplicate),
        ("DEPRECATED", .deprecated), ("TENTATIVE", .tentative),
    ]
}

extension LinkState.OperationalState {
    /// The words of RFC 2863 as `ip link` writes them.
    static let words: [(word: String, state: Self)] = [
        ("unknown", .unknown), ("notpresent", .notPresent), ("down", .down),
        ("lowerlayerdown", .lowerLayerDown), ("testing", .testing), ("dormant", .dormant), ("up", .up),
    ]
    var word: String { Self.words.first { $0.state == self }?.word ?? "unknown" }
}

extension LinkState.BridgePortState {
    /// The words of `bridge link`.
    static let words: [(word: String, state: Self)] = [
        ("disabled", .disabled), ("listening", .listening), ("learning", .learning),
        ("forwarding", .forwarding), ("blocking", .blocking),
    ]
    var word: String { Self.words.first { $0.state == self }?.word ?? "disabled" }
}

extension RouteAnswer.Kind {
    /// The words of ip-route(8); other types are `type-` and their number.
    static let words: [(word: String, kind: Self)] = [
        ("unicast", .unicast), ("local", .local), ("broadcast", .broadcast), ("anycast", .anycast),
        ("multicast", .multicast), ("blackhole", .blackhole), ("unreachable", .unreachable),
        ("prohibit", .prohibit), ("throw", .throw),
    ]
    var word: String {
        if case .other(let number) = self { return "type-\(number)" }
        return Self.words.first { $0.kind == self }?.word ?? "unicast"
    }
}

extension PolicyRules.Selectors {
    /// The selectors of policy rules.
    static let words: [(word: String, selector: Self)] = [("source", .source), ("transport", .transport)]
}

extension ReachabilityTiming {
    /// The durations by name; reader and writer iterate over this list.
    static var durations: [(word: String, path: WritableKeyPath<Self, Duration>)] {
        [
            ("lossGrace", \.lossGrace), ("evaluationInterval", \.evaluationInterval),
            ("dampingWindow", \.dampingWindow), ("dampingHold", \.dampingHold),
            ("dampingHoldLimit", \.dampingHoldLimit), ("dampingReset", \.dampingReset),
            ("resyncBackoff", \.resyncBackoff), ("resyncBackoffLimit", \.resyncBackoffLimit),
            ("resumeThreshold", \.resumeThreshold),
        ]
    }

    /// The optional intervals; omitted if off.
    static var intervals: [(word: String, path: WritableKeyPath<Self, Duration?>)] {
        [
            ("safetyInterval", \.safetyInterval), ("partialSafetyInterval", \.partialSafetyInterval),
            ("pollInterval", \.pollInterval),
        ]
    }
}

/// The escaping of external text: special characters become `%` and two digits.
enum RecordingEscape {
    /// Whether a scalar stays unescaped: printable, and no separator.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x25, 0x2C, 0x2F: false  // % , /
        case 0x21...0x7E: true
        case 0...0xA0: false
        default:
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate,
                .unassigned, .privateUse:
                false
            default: true
            }
        }
    }

    /// The unescaped text; nil if the word is malformed.
    static func decoded(_ word: Substring) -> String? {
        guard word.utf8.contains(UInt8(ascii: "%")) else { return String(word) }
        var bytes: [UInt8] = []
        var rest = word.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
    }
}
