// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionManager

/// What a device has with its server: samples in order, firmware that arrives whole, a token that is renewed.
struct Device: Sendable {
    struct Sample: Codable, Sendable {
        var takenAt: Date
        var value: Double
    }

    struct Firmware: Codable, Sendable {
        var address: String
        var sha256: String
    }

    private let api: HTTPSessionManager

    /// - Parameters:
    ///   - login: the manager that renews the token; the requests of `api` wait for it.
    init(_ serial: String, api: HTTPSessionManager, login: HTTPSessionManager, token: Token) {
        self.api = api
        api.defaultHeaders["X-Device"] = serial
        api.interceptor = Interceptor(
            retriers: [RetryPolicy()],
            interceptors: [AuthenticationInterceptor(TokenAuthenticator(login: login), credential: token)])
    }

    /// Returns when the server has the sample: at once, or when there is a network again.
    func report(_ sample: Sample) async throws {
        let options = TaskOptions {
            $0.lane = "samples"  // one after the other, in the order in which they were taken
            $0.isIdempotent = true  // the server knows a sample by its time: it may come twice
        }
        try await api.post("samples", json: sample, options: options)
    }

    /// Fetches the firmware that the server offers; false where it offers none.
    func update(_ path: String, version: String) async throws -> Bool {
        let offers: [Firmware] = try await api.get("firmware", query: ["after": version])
        guard let offer = offers.last else { return false }
        let options = TaskOptions {
            $0.resumeFile = "\(path).resume"  // the next start goes on where this one was cut off
            $0.networkCondition = .notExpensive  // not over the modem
        }
        try await api.download(
            offer.address, to: DownloadDestination(path, sha256: offer.sha256, replacesExisting: true),
            options: options)
        return true
    }

    /// Takes no more requests; those that are on their way may end.
    func stop() { api.invalidate(cancellingTasks: false) }
}

/// What requests are signed with.
struct Token: RefreshableCredential, Codable {
    var access: String
    var refresh: String
    var expires: Date

    var requiresRefresh: Bool { expires < Date() }
}

private struct TokenAuthenticator: Authenticator {
    let login: HTTPSessionManager

    func apply(_ token: Token, to request: inout SessionRequest) {
        request.headerFields[.authorization] = "Bearer \(token.access)"
    }

    func refresh(_ token: Token) async throws -> Token {
        try await login.post("token", form: ["grant_type": "refresh_token", "refresh_token": token.refresh])
    }

    func isRequest(_ request: SessionRequest, signedWith token: Token) -> Bool {
        request.value(forHeader: "Authorization") == "Bearer \(token.access)"
    }
}
