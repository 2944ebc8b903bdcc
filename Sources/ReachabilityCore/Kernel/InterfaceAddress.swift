// SPDX-License-Identifier: Apache-2.0

/// An address of an interface (RTM_NEWADDR, rtnetlink(7)).
package struct InterfaceAddress: Sendable, Equatable {
    /// The relevant flags of `struct ifaddrmsg` and IFA_FLAGS (linux/if_addr.h).
    package struct Flags: OptionSet, Sendable, Equatable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        /// IFA_F_TEMPORARY: a privacy address of IPv6 (RFC 8981); secondary in IPv4.
        package static let temporary = Flags(rawValue: 0x01)
        /// IFA_F_OPTIMISTIC: usable during duplicate address detection (RFC 4429).
        package static let optimistic = Flags(rawValue: 0x04)
        /// IFA_F_DADFAILED: another node has the address (RFC 4862 §5.4).
        package static let duplicate = Flags(rawValue: 0x08)
        /// IFA_F_DEPRECATED: the preferred lifetime is over.
        package static let deprecated = Flags(rawValue: 0x20)
        /// IFA_F_TENTATIVE: duplicate address detection has not finished.
        package static let tentative = Flags(rawValue: 0x40)
    }

    package var interface: Int32
    /// The address (IFA_LOCAL, else IFA_ADDRESS).
    package let address: IPAddress
    /// The number of leading bits that name the subnet.
    package let prefixLength: Int
    package var flags: Flags
    /// `address/length`, stored because cached addresses are written with every change of a route.
    package let text: String

    package init(interface: Int32, address: IPAddress, prefixLength: Int, flags: Flags = []) {
        self.interface = interface
        self.address = address
        self.prefixLength = prefixLength
        self.flags = flags
        text = address.text(prefixLength: UInt8(clamping: prefixLength))
    }

    /// Whether the kernel would choose it as a source: duplicate address detection is over or optimistic.
    package var isUsable: Bool {
        !flags.contains(.duplicate) && (!flags.contains(.tentative) || flags.contains(.optimistic))
    }
}
