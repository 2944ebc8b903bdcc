// SPDX-License-Identifier: Apache-2.0

import Reachability

func explain(_ update: ReachabilityUpdate, translations: [String: String]) -> String {
    let status = update.status.localizedString { translations[$0] }
    guard update.path.reason.code == .linkDown else { return status }
    return "\(status): check the cable of \(update.path.reason.interface ?? "the device")"
}
