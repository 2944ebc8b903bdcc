// SPDX-License-Identifier: Apache-2.0

/// A credential that can end, such as an OAuth 2.0 access token with its refresh token.
public protocol RefreshableCredential: Sendable {
    /// Whether it should be refreshed before it is used: it has ended or is about to.
    var requiresRefresh: Bool { get }
}

/// Signs requests with a credential, and gets a new one.
public protocol Authenticator: Sendable {
    /// What it signs with.
    associatedtype Credential: RefreshableCredential

    /// Puts the credential into a request.
    ///
    /// - Throws: what the task fails with.
    func apply(_ credential: Credential, to request: inout SessionRequest) throws
    /// A new credential for one that has ended; never called twice at a time.
    ///
    /// - Throws: what all waiting requests fail with.
    func refresh(_ credential: Credential) async throws -> Credential
    /// Whether the server refused the credential; by default, whether the status is 401.
    func isRefused(_ request: SessionRequest, response: SessionResponse, error: any Error) -> Bool
    /// Whether the request was signed with this credential, and not with an older one.
    func isRequest(_ request: SessionRequest, signedWith credential: Credential) -> Bool
}

extension Authenticator {
    /// Whether the status is 401.
    public func isRefused(_ request: SessionRequest, response: SessionResponse, error: any Error) -> Bool {
        response.statusCode == 401
    }
}
