// SPDX-License-Identifier: Apache-2.0

import CCurl
import FoundationEssentials
import SessionCore

extension EasyHandle {
    /// libcurl's result as an error of the session.
    func error(_ code: CURLcode, _ transfer: Transfer, _ tls: TLSSettings) -> SessionError {
        let failure = TransportFailure(
            curlCode: Int32(code.rawValue), message: Self.withoutProxy(message(for: code)),
            errno: socketFailure != 0 ? socketFailure : Int32(long(CURLINFO_OS_ERRNO)))
        let url = transfer.request.url
        if let route = transfer.route {
            if let error = route.calls.error(route, failure) { return error.with(failingURL: url) }
        } else if let error = proxyError(failure, transfer) {
            return error
        }
        if isAboutHead(failure, transfer) {
            return SessionError(
                .badServerResponse,
                "the server sends more of header fields than libcurl takes: \(failure.message)",
                advice: "the server, or a proxy before it, is broken or hostile", failingURL: url,
                response: transfer.response, transport: failure)
        }
        if isAboutContent(failure, transfer) {
            let isAboutTrailers = failure.curlCode == CURLE_BAD_FUNCTION_ARGUMENT.rawValue
            let words = isAboutTrailers ? "its trailers are no header fields" : failure.message
            return SessionError(
                .badServerResponse, "the server's answer is no proper HTTP: \(words)",
                advice: "the server, or a proxy before it, is broken or hostile", failingURL: url,
                response: transfer.response, transport: failure)
        }
        if failure.curlCode == CURLE_COULDNT_RESOLVE_HOST.rawValue, let resolver = tls.resolver {
            return SessionError(
                .cannotFindHost,
                "\(resolver.text) has told no address of \(url.host() ?? "the server"): \(failure.message)",
                advice:
                    "check that the name exists, and that the name server which is asked by https answers with a valid certificate",
                failingURL: url, transport: failure)
        }
        let error =
            tls.error(failure, raw, url: url, evaluator: transfer.evaluator)
            ?? SessionError(transport: failure, failingURL: url)
        return error.with(response: transfer.response)
    }

    /// libcurl's words without the address of a proxy that it refuses, which it quotes with the password.
    private static func withoutProxy(_ message: String) -> String {
        guard message.hasPrefix("Unsupported proxy") else { return message }
        return message.split(separator: " ").prefix(3).joined(separator: " ")
    }

    /// Whether the heads together, or one line, were longer than libcurl takes: 300 KiB, and 100 KiB
    /// (CURL_MAX_HTTP_HEADER, curl.h).
    ///
    /// Such a line is a lack of memory to it, before 8.7, and later CURLE_TOO_LARGE (lib/dynbuf.c).
    private func isAboutHead(_ failure: TransportFailure, _ transfer: Transfer) -> Bool {
        if failure.message.hasPrefix("Too large response headers") { return true }
        guard failure.curlCode == CURLE_OUT_OF_MEMORY.rawValue || failure.curlCode == Self.tooLarge else {
            return false
        }
        return transfer.response == nil && offset(CURLINFO_STARTTRANSFER_TIME_T) > 0
    }

    /// Whether libcurl could not make anything of what came: trailers that are no header fields
    /// (CURLE_BAD_FUNCTION_ARGUMENT and CURLE_WEIRD_SERVER_REPLY of Curl_headers_push, lib/headers.c), or
    /// content without a head.
    ///
    /// What cannot be stored has an error of its own: libcurl stores nothing itself.
    private func isAboutContent(_ failure: TransportFailure, _ transfer: Transfer) -> Bool {
        switch CURLcode(UInt32(bitPattern: failure.curlCode)) {
        case CURLE_WRITE_ERROR: true
        case CURLE_BAD_FUNCTION_ARGUMENT: transfer.response != nil
        // Malformed chunks (RFC 9112 §7.1) are an error of reading to it.
        case CURLE_RECV_ERROR: failure.message.hasSuffix("in chunked-encoding")
        default: false
        }
    }

    /// CURLE_TOO_LARGE, which headers before 8.6 do not have.
    private static let tooLarge = 100

    /// Where it is the proxy that failed, or refused.
    private func proxyError(_ failure: TransportFailure, _ transfer: Transfer) -> SessionError? {
        let url = transfer.request.url
        guard transfer.response == nil, let proxy = proxies.proxy(for: url) else { return nil }
        if let fault = proxy.fault {
            let source = proxy.variable.map { "the proxy that \($0) names" } ?? "the proxy"
            return SessionError(
                .cannotConnectToHost, "\(source) cannot be used: \(fault)",
                advice: "write it as \(ProxyChoice.spelling)", failingURL: url, transport: failure)
        }
        if let refusal = transfer.heads.tunnelRefusal {
            let status = "status \(refusal.statusCode ?? 0)"
            return refusal.statusCode == 407
                ? wantsCredentials(proxy, "http", status, url, failure)
                : refusesTunnel(proxy, status, url, failure)
        }
        if failure.isOfProxy {
            return refusesByHandshake
                ? wantsCredentials(proxy, "socks5h", failure.message, url, failure)
                : refusesTunnel(proxy, failure.message, url, failure)
        }
        guard failure.curlCode == CURLE_COULDNT_CONNECT.rawValue else { return nil }
        let code = SessionError.Code(curlCode: failure.curlCode, osErrno: failure.errno)
        guard code == .cannotConnectToHost else { return nil }
        let other = proxy.variable.map { "correct \($0), which names it" } ?? "name another one"
        return SessionError(
            code, "the proxy \(proxy.authority) cannot be connected to: \(failure.message)",
            advice: "start the proxy, or \(other)", failingURL: url, transport: failure)
    }

    /// Whether a SOCKS proxy did not accept the client (RFC 1928 §3, RFC 1929; CURLINFO_PROXY_ERROR(3)).
    private var refusesByHandshake: Bool {
        let answer = CURLproxycode(UInt32(truncatingIfNeeded: long(CURLINFO_PROXY_ERROR)))
        return answer == CURLPX_USER_REJECTED || answer == CURLPX_NO_AUTH
    }

    private func refusesTunnel(
        _ proxy: ProxyChoice, _ reason: String, _ url: URL, _ failure: TransportFailure
    ) -> SessionError {
        let server = "\(url.host() ?? "the server"):\(Origin(url)?.port ?? 0)"
        return SessionError(
            .cannotConnectToHost, "the proxy \(proxy.authority) does not let through to \(server): \(reason)",
            advice: "ask the administrator of the proxy, or name another one", failingURL: url,
            transport: failure)
    }

    private func wantsCredentials(
        _ proxy: ProxyChoice, _ scheme: String, _ reason: String, _ url: URL, _ failure: TransportFailure
    ) -> SessionError {
        SessionError(
            .userAuthenticationRequired,
            "the proxy \(proxy.authority) wants other credentials than it has been given, or any: \(reason)",
            advice: "write them into the proxy's address, \(scheme)://USER:PASSWORD@\(proxy.authority)",
            failingURL: url, transport: failure)
    }
}
