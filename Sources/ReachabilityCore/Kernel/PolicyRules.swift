// SPDX-License-Identifier: Apache-2.0

/// What the policy rules of the machine look at (RTM_GETRULE, ip-rule(8)), as far as a plain lookup leaves it out.
///
/// A lookup names destination, mark and user. Source, protocol and ports are asked for only where a rule looks at them.
package struct PolicyRules: Sendable, Equatable {
    /// What the rules of one family look at.
    package struct Selectors: OptionSet, Sendable, Equatable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The source address (`from`).
        package static let source = Selectors(rawValue: 1 << 0)
        /// The protocol or a port (`ipproto`, `sport`, `dport`; Linux 4.17).
        package static let transport = Selectors(rawValue: 1 << 1)
    }

    package var ipv4: Selectors
    package var ipv6: Selectors
    /// What the rules of both families set apart from the rest.
    package var exemptions: RuleExemptions

    package init(
        ipv4: Selectors = [], ipv6: Selectors = [], exemptions: RuleExemptions = RuleExemptions()
    ) {
        self.ipv4 = ipv4
        self.ipv6 = ipv6
        self.exemptions = exemptions
    }

    /// Whether a lookup has to name more than destination, mark and user.
    package var hasSelectors: Bool { !ipv4.isEmpty || !ipv6.isEmpty }

    package subscript(family: IPAddress.Family) -> Selectors {
        get { family == .ipv4 ? ipv4 : ipv6 }
        set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
    }
}
