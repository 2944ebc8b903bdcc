// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// How the probe's server answers, and so what another answer means: a portal, or no internet.
public struct InternetExpectation: Sendable, Equatable {
    /// The status; 200 to 299 unless said.
    public var statusCodes: StatusCodes
    /// What the content begins with; nil for anything.
    ///
    /// A page to sign in often has status 200 as well: expect a content, or 204, which has none.
    public var body: String?

    /// An expectation.
    public init(statusCodes: StatusCodes = .successful, body: String? = nil) {
        self.statusCodes = statusCodes
        self.body = body
    }

    /// The state that an answer, or the lack of one, shows.
    package func judge(_ response: SessionResponse?, data: Data?, error: SessionError?) -> InternetState {
        if let error { return judge(error) }
        guard let status = response?.statusCode else { return .limited }
        if statusCodes.contains(status) {
            guard let body else { return .full }
            return (data ?? Data()).starts(with: body.utf8) ? .full : .portal
        }
        // A gateway that asks to sign in says so by a redirect, a page, 403 or 511 (RFC 6585 §6), not by a
        // failure of the server.
        return (500...599).contains(status) && status != 511 ? .limited : .portal
    }

    private func judge(_ error: SessionError) -> InternetState {
        switch error.code {
        // Another certificate than the server's: a portal stands in between. A wrong date is mostly this
        // device's clock.
        case .certificateUntrusted, .certificateHasUnknownRoot: .portal
        // More than the probe reads is not the short answer that was expected.
        case .dataLengthExceedsMaximum: .portal
        default: .limited
        }
    }
}
