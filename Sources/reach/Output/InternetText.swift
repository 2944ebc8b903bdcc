// SPDX-License-Identifier: Apache-2.0

import SessionManager

extension InternetState {
    /// How it looks.
    var tone: Style.Tone {
        switch self {
        case .full: .good
        case .portal, .limited, .unknown: .doubtful
        case .none: .bad
        }
    }
}
