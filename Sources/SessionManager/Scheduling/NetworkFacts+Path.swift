// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import SessionCore

extension NetworkFacts {
    /// What a report of a provider says.
    ///
    /// The path counts, since it says a loss at once and the status only after a while; the status counts
    /// where the path says nothing.
    init(_ status: ReachabilityStatus, _ path: ReachabilityPath) {
        let word = path.instantStatus == .unknown ? status : path.instantStatus
        let isOnline = path.instantStatus == .unknown ? status.isReachable : path.isOnline
        // A monitor that is stopped, or that the kernel refuses, knows nothing.
        let isUnknown = status == .unknown && !isOnline && path.instantStatus != .unreachable
        self.init(isUnknown ? .unknown : isOnline ? .online : .offline, sentence: path.reason.sentence)
        isWiFi = word == .wifi
        let isModem = path.medium == .cellular || path.medium == .other
        // What carries a tunnel is not said but for its cost.
        isWired = word == .wired && !isModem && !(path.medium == .tunnel && path.isExpensive)
        isExpensive = path.isExpensive
        alternative = path.alternative
        if let medium = path.alternativeMedium {
            isAlternativeWiFi = medium == .wifi
            isAlternativeWired = !isAlternativeWiFi && medium != .cellular && medium != .other
            isAlternativeExpensive = path.isAlternativeExpensive
        }
        generation = path.generation
    }
}
