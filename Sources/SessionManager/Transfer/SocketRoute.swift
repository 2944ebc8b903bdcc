// SPDX-License-Identifier: Apache-2.0

import CCurl
import CLinux
import FoundationEssentials
import Glibc
import SessionCore

/// The way of a transfer to a server behind a socket of this machine (unix(7)).
package final class SocketRoute: Sendable {
    /// The socket, as ``UnixSocket`` takes it.
    let name: String
    /// The URL that the server sees.
    let address: String
    /// Whether the URL names the socket, and no host: the jar of the session knows hosts alone, so that its
    /// cookies would be those of another server of that name.
    let isNamedByURL: Bool
    /// What limits count transfers by, and connections are kept for.
    let origin: String
    let calls: SocketCalls

    init(_ name: String, address: String, isNamedByURL: Bool, origin: String, _ calls: SocketCalls) {
        self.name = name
        self.address = address
        self.isNamedByURL = isNamedByURL
        self.origin = origin
        self.calls = calls
    }

    /// The origin of all that goes to a manager's own socket.
    static func origin(of socket: String) -> String { "unix:\(socket)" }
    var isSecure: Bool { address.hasPrefix("https:") }
}

/// What a manager does for sockets of this machine.
///
/// By reference, and not asked for by managers that speak to the network alone (``URLSessionManager``), so
/// that a program without sockets neither contains it nor can be sent to one.
package struct SocketCalls: Sendable {
    /// The way to a URL; nil where that is over the network.
    ///
    /// `configured` is the manager's own socket.
    let find: @Sendable (_ address: String, _ configured: String?) -> SocketRoute?
    /// Throws where there can be no such socket, or libcurl cannot use any.
    let check: @Sendable (SocketRoute) throws(SessionError) -> Void
    /// Has libcurl connect there.
    let set: @Sendable (SocketRoute, EasyHandle) -> Void
    /// Why it could not connect; nil where libcurl's own error says more.
    let error: @Sendable (SocketRoute, TransportFailure) -> SessionError?
    /// What follows from a response.
    let redirect: @Sendable (SessionRequest, SessionResponse, _ hops: Int, RedirectRules) -> RedirectDecision

    package static let all = SocketCalls(
        find: { SocketRoute.find($0, configured: $1) },
        check: { (route) throws(SessionError) in try route.check() },
        set: { $0.set(on: $1) }, error: { $0.error($1) },
        redirect: { SocketRedirects.decide($0, $1, hops: $2, $3) })
}

extension SocketRoute {
    fileprivate static func find(_ address: String, configured: String?) -> SocketRoute? {
        if let url = SocketURL(address) {
            return SocketRoute(
                url.socket, address: url.address(), isNamedByURL: true, origin: address.origin, .all)
        }
        return configured.map {
            SocketRoute(
                $0, address: address, isNamedByURL: false, origin: SocketRoute.origin(of: $0), .all)
        }
    }

    fileprivate func check() throws(SessionError) {
        _ = try UnixSocket(name)
        guard ccurl_version().pointee.features & CURL_VERSION_UNIX_SOCKETS != 0 else {
            throw SessionError(
                .missingLibrary, "libcurl was built without sockets of this machine",
                advice: "install one that has them (UnixSockets in the output of curl --version)")
        }
    }

    fileprivate func set(on easy: EasyHandle) {
        guard let socket = try? UnixSocket(name) else { return }
        easy.set(
            socket.isAbstract ? CURLOPT_ABSTRACT_UNIX_SOCKET : CURLOPT_UNIX_SOCKET_PATH, socket.path)
    }

    fileprivate func error(_ failure: TransportFailure) -> SessionError? {
        guard failure.errno != 0, let socket = try? UnixSocket(name) else { return nil }
        let file = socket.isAbstract ? nil : UnixSocket.File(at: socket.path)
        return socket.failure(failure.errno, file).map {
            SessionError($0.code, $0.message, advice: $0.advice, transport: failure)
        }
    }
}

extension TransferEngine {
    /// The way to a URL whose server listens on a socket of this machine; nil for the network.
    func route(to address: String) -> SocketRoute? {
        guard configuration.unixSocket != nil || address.mayNameSocket, let socketCalls else { return nil }
        return socketCalls.find(address, configuration.unixSocket)
    }
}

extension UnixSocket.File {
    /// Looks at what a path leads to (stat(2)); nil where that is not possible.
    init?(at path: String) {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        self.init(
            isSocket: found.st_mode & S_IFMT == S_IFSOCK, permissions: found.st_mode & 0o777,
            owner: Self.name(of: found.st_uid, in: "/etc/passwd"),
            group: Self.name(of: found.st_gid, in: "/etc/group"))
    }

    /// The name of a number in a file of users or groups (passwd(5), group(5)); the number where there is
    /// none.
    ///
    /// Not by getgrgid(3), which may ask a directory of the network.
    private static func name(of number: UInt32, in file: String) -> String {
        let text = String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", omittingEmptySubsequences: false)
            if parts.count > 2, parts[2] == "\(number)" { return String(parts[0]) }
        }
        return "\(number)"
    }
}
