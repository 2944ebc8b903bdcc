// SPDX-License-Identifier: Apache-2.0

extension SecurityPolicy {
    /// What a server is compared with, beside the ordinary verification of its chain.
    public enum PinningMode: Int, Sendable, Codable, CaseIterable, CustomStringConvertible {
        /// Nothing: the trust roots decide.
        case none = 0
        /// Some certificate of the chain has a pinned key. Survives renewals that keep the key.
        case publicKey = 1
        /// The chain leads to a pinned certificate, nothing else is an anchor. Does not survive a renewal of that certificate.
        case certificate = 2

        /// The name of the mode.
        public var description: String {
            switch self {
            case .none: "none"
            case .publicKey: "publicKey"
            case .certificate: "certificate"
            }
        }
    }
}
