// SPDX-License-Identifier: Apache-2.0

import ServiceCore
import SessionCore
import SessionManager

extension DiagnosisRules {
    /// The finding about a link beside the path in use, over which the server was asked.
    static func uplink(_ uplink: UplinkInternet) -> Finding {
        let name = uplink.interface
        let sentence = InternetSentence.text([uplink]) ?? "\(name): the server was not asked"
        switch uplink.state {
        case .full: return .good(.uplink, "\(name): \(uplink.reason)")
        case .unknown, .none: return .skipped(.uplink, sentence)
        case .portal:
            return .doubtful(
                .uplink, sentence,
                try: "sign in to the network of \(name), or do not count on it as a way out")
        case .limited:
            return .doubtful(
                .uplink, sentence,
                try: "\(name) does not reach the server: look at it before the path in use fails")
        }
    }
}
