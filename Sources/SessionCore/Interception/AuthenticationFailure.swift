// SPDX-License-Identifier: Apache-2.0

/// Why a request gets no credential.
enum AuthenticationFailure {
    case missingCredential
    case excessiveRefresh(RefreshWindow)

    var error: SessionError {
        switch self {
        case .missingCredential:
            SessionError(
                .userAuthenticationRequired, "there is no credential to sign the request with",
                advice: "log in and set the interceptor's credential")
        case .excessiveRefresh(let window):
            SessionError(
                .userAuthenticationRequired,
                "the credential was refreshed \(window.limit) times within \(window.interval) and is still refused",
                advice: "log in again; the server may not accept what it hands out")
        }
    }
}
