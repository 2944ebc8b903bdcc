// SPDX-License-Identifier: Apache-2.0

package import SessionCore

extension InternetState {
    /// What it means, behind "internet: full".
    package var explanation: String {
        switch self {
        case .unknown: "not asked yet"
        case .none: "there is no path"
        case .limited: "there is a path, but the server does not answer as it should"
        case .portal: "somebody else answers for the server; sign in to this network with a browser"
        case .full: "the server answers"
        }
    }
}
