// SPDX-License-Identifier: Apache-2.0

import Reachability
import ServiceCore
import SessionCore
import SessionManager

extension DiagnosisRules {
    /// What the path in use costs; nil if that is nothing.
    static func cost(_ path: ReachabilityPath) -> Finding? {
        guard path.isOnline, let name = path.interface else { return nil }
        let words = [
            path.isExpensive ? "traffic costs (metered: \(path.metered))" : nil,
            path.isRoaming ? "the modem is roaming" : nil, path.isConstrained ? "data is to be saved" : nil,
        ].compactMap { $0 }
        return words.isEmpty ? nil : .good(.cost, "\(name): \(words.joined(separator: ", "))")
    }

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
