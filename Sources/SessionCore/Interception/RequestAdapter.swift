// SPDX-License-Identifier: Apache-2.0

/// Changes requests before they are sent, for instance signs them.
public protocol RequestAdapter: Sendable {
    /// The request to send instead; asked again before each retry.
    ///
    /// - Throws: what the task fails with; nothing is sent then, and later adapters are not asked. Retriers are.
    func adapt(_ request: SessionRequest, state: RequestState) async throws -> SessionRequest
}

/// An adapter that is a closure.
public struct Adapter: RequestAdapter {
    private let change: @Sendable (SessionRequest, RequestState) async throws -> SessionRequest

    /// An adapter that calls the closure.
    public init(_ change: @escaping @Sendable (SessionRequest, RequestState) async throws -> SessionRequest) {
        self.change = change
    }

    /// What the closure answers.
    public func adapt(_ request: SessionRequest, state: RequestState) async throws -> SessionRequest {
        try await change(request, state)
    }
}
