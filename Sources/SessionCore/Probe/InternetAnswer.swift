// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// What is known of the internet behind an uplink, and by what evidence.
package struct InternetAnswer: Sendable, Equatable {
    package var state: InternetState
    /// The evidence, without a full stop: "204 from https://…", "no answer in 10 s"; empty for none.
    package var reason: String
    /// Where to sign in, if a redirect says so.
    package var portalURL: URL?
    /// Whether nothing at all came back.
    package var isSilence: Bool

    package init(
        _ state: InternetState, _ reason: String = "", portalURL: URL? = nil, isSilence: Bool = false
    ) {
        self.state = state
        self.reason = reason
        self.portalURL = portalURL
        self.isSilence = isSilence
    }
}

extension InternetExpectation {
    /// What an answer, or the lack of one, shows, and why.
    ///
    /// - Parameters:
    ///   - url: The URL that was asked for.
    ///   - timeout: How long the question may take.
    ///   - isForClock: Whether a wrong clock explains the error.
    package func answer(
        _ response: SessionResponse?, data: Data?, error: SessionError?, url: URL, timeout: Duration,
        isForClock: Bool = false
    ) -> InternetAnswer {
        let state = judge(response, data: data, error: error)
        if let error, isForClock {
            return InternetAnswer(state, "\(ClockStatus.sentence): \(error.message)")
        }
        if let error { return answer(error, state, timeout) }
        guard let response, let status = response.statusCode else {
            return InternetAnswer(.limited, "no answer", isSilence: true)
        }
        let address = url.textWithoutUser
        guard state != .full else { return InternetAnswer(.full, "\(status) from \(address)") }
        if (300...399).contains(status), let location = response.value(forHeader: "location"),
            let target = URL(string: location, relativeTo: url)?.absoluteURL, Self.isOfWeb(target)
        {
            return InternetAnswer(state, "redirected to \(target.textWithoutUser)", portalURL: target)
        }
        if statusCodes.contains(status) {
            return InternetAnswer(state, "\(status) from \(address) with another content than expected")
        }
        return InternetAnswer(state, "\(status) from \(address)")
    }

    static func isOfWeb(_ url: URL) -> Bool {
        let scheme = url.scheme?.lowercased()
        return (scheme == "http" || scheme == "https") && url.host()?.isEmpty == false
    }

    private func answer(_ error: SessionError, _ state: InternetState, _ timeout: Duration) -> InternetAnswer
    {
        switch error.code {
        case .timedOut:
            let (whole, rest) = timeout.components
            let tenths = whole * 10 + rest / 100_000_000_000_000_000
            let seconds = tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
            return InternetAnswer(state, "no answer in \(seconds) s", isSilence: true)
        case .cannotFindHost: return InternetAnswer(state, "no name: \(error.message)")
        case .dataLengthExceedsMaximum: return InternetAnswer(state, "more content than expected")
        default: return InternetAnswer(state, error.message)
        }
    }
}
