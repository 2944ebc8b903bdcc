// SPDX-License-Identifier: Apache-2.0

import CCurl
import FoundationEssentials
import SessionCore

extension EasyHandle {
    /// libcurl's result as an error of the session.
    func error(_ code: CURLcode, _ transfer: Transfer, _ tls: TLSSettings) -> SessionError {
        let failure = TransportFailure(
            curlCode: Int32(code.rawValue), message: message(for: code), errno: Int32(long(CURLINFO_OS_ERRNO))
        )
        let url = transfer.request.url
        if let error = proxyError(failure, transfer) { return error }
        let error =
            tls.error(failure, raw, url: url, evaluator: transfer.evaluator)
            ?? SessionError(transport: failure, failingURL: url)
        return error.with(response: transfer.response)
    }

    /// Where it is the proxy that failed, or refused.
    private func proxyError(_ failure: TransportFailure, _ transfer: Transfer) -> SessionError? {
        let url = transfer.request.url
        guard transfer.response == nil, let proxy = engine.proxy(for: url) else { return nil }
        if let refusal = transfer.tunnelRefusal {
            let server = "\(url.host() ?? "the server"):\(Origin(url)?.port ?? 0)"
            let status = "status \(refusal.statusCode ?? 0)"
            guard refusal.statusCode == 407 else {
                return SessionError(
                    .cannotConnectToHost,
                    "the proxy \(proxy.place) does not let through to \(server): \(status)",
                    advice: "ask whoever runs the proxy, or name another one", failingURL: url,
                    transport: failure)
            }
            return SessionError(
                .userAuthenticationRequired,
                "the proxy \(proxy.place) wants other credentials than it has been given, or any: \(status)",
                advice: "write them into the proxy's address, http://USER:PASSWORD@\(proxy.place)",
                failingURL: url, transport: failure)
        }
        guard failure.curlCode == CURLE_COULDNT_CONNECT.rawValue else { return nil }
        let code = SessionError.Code(curlCode: failure.curlCode, osErrno: failure.errno)
        guard code == .cannotConnectToHost else { return nil }
        let source = proxy.variable ?? "the configuration"
        return SessionError(
            code, "the proxy \(proxy.place) cannot be connected to: \(failure.message)",
            advice: "start the proxy, or correct \(source), which names it", failingURL: url,
            transport: failure)
    }
}
