// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import SessionCore
import Testing

/// Sockets of this machine, named by URLs.
struct RulesSocketTests {
    @Test(
        "API-500 A URL of a socket is taken apart: the socket, and what its server sees",
        arguments: [
            (
                "http+unix://%2Frun%2Fsnapd.socket/v2/apps?a=%2F#f", "/run/snapd.socket",
                "http://localhost/v2/apps?a=%2F#f"
            ),
            ("HTTPS+unix://%2Frun%2Fa%20b", "/run/a b", "https://localhost"),
            ("http+unix://u:p@%2Frun%2Fx/y", "/run/x", "http://u:p@localhost/y"),
            ("http+unix://%40name/", "@name", "http://localhost/"),
            ("http+unix://%00name?q", "@name", "http://localhost?q"),
            ("http+unix://%2Frun%2F%C3%A4.sock/", "/run/ä.sock", "http://localhost/"),
        ])
    func parts(url: String, socket: String, address: String) throws {
        let parts = try #require(SocketURL(url))
        #expect(parts.socket == socket && parts.address() == address)
        #expect(parts.isSecure == address.hasPrefix("https:"))
        #expect(try SessionRequest(url).url.absoluteString == url)
        #expect(try SessionRequest(url).url.isCarried)
        #expect(try UnixSocket(socket).name == socket)
    }

    @Test("API-501 What is no socket is an error that says how one is written, and that its path is too long")
    func malformed() throws {
        for text in [
            "http+unix://", "http+unix:///run/x.sock", "http+unix://run/x", "http+unix://%40/",
            "http+unix://%2Frun%2F%00x/", "http+unix://%2Frun%FF/", "http+unix://localhost/",
        ] {
            let error = try #require(throws: SessionError.self) { _ = try SessionRequest(text) }
            #expect(
                error.code == .badURL && error.advice.contains("http+unix://%2Frun%2F"), "\(text): \(error)")
            #expect(URL(string: text)?.isCarried != true)
        }
        #expect(SocketURL("http://h/+unix://") == nil && SocketURL("https://h/") == nil)
        let longest = "/" + String(repeating: "x", count: 106)
        #expect(try UnixSocket(longest).path == longest)
        let error = try #require(throws: SessionError.self) { _ = try UnixSocket(longest + "y") }
        #expect(
            error.message.contains("107") && error.message.contains("108") && error.advice.contains("link"))
        #expect(try UnixSocket("@" + longest).isAbstract)
    }

    @Test("API-502 A socket is an origin of its own, whatever its encoding, and no other one's")
    func origins() throws {
        let origin = try #require(Origin(URL(string: "http+unix://%2Frun%2FX.sock/a")!))
        #expect(origin == Origin(URL(string: "HTTP+UNIX://u@%2frun%2f%58.sock/b")!))
        #expect(origin != Origin(URL(string: "http+unix://%2Frun%2Fx.sock/a")!))
        #expect(origin != Origin(URL(string: "https+unix://%2Frun%2FX.sock/a")!))
        #expect(!origin.isSecure && Origin(URL(string: "https+unix://%2Fx/")!)?.isSecure == true)
        #expect(Origin(URL(string: "\(origin)/")!) == origin)
        #expect(!URL(string: "http+unix://%2Fx/")!.isWeb && !URL(string: "http+unix://%2Fx/")!.isSpoken)
        #expect(throws: SessionError.self) { _ = try URL(spoken: "http+unix://%2Fx/") }
    }

    private func redirect(
        from url: String, to location: String, host: String? = nil
    ) throws -> RedirectDecision {
        var request = try SessionRequest(url, headerFields: [.authorization: "Bearer x"])
        if let host { try request.setValue(host, forHeader: "Host") }
        let response = SessionResponse(
            url: request.url, statusCode: 302, headerFields: [.location: location])
        return SocketRedirects.decide(request, response, hops: 0, RedirectRules())
    }

    @Test(
        "API-503 A redirect stays on its socket, by a path, by the host of the request, with its credentials",
        arguments: [
            ("/v2/b", nil), ("b?c", nil), ("http://localhost/v2/b", nil), ("//localhost/b", nil),
            ("http://api.test/b", "api.test"),
        ])
    func redirected(location: String, host: String?) throws {
        let decision = try redirect(from: "http+unix://%2Frun%2Fx/v2/a", to: location, host: host)
        guard case .follow(let next) = decision else { return #expect(Bool(false), "\(decision)") }
        #expect(next.url.absoluteString.hasPrefix("http+unix://%2Frun%2Fx/"))
        #expect(next.url.absoluteString.contains("/b"))
        #expect(next.headerFields[.authorization] == "Bearer x")
    }

    @Test("API-504 A redirect leaves no socket, and leads to none")
    func refused() throws {
        for location in [
            "http://other.test/x", "https://localhost/", "http://localhost:81/", "//other.test/",
        ] {
            let decision = try redirect(from: "http+unix://%2Frun%2Fx/a", to: location)
            guard case .failure(let error) = decision else { return #expect(Bool(false), "\(decision)") }
            #expect(error.code == .unsupportedURL && error.advice.contains("do not leave a socket"))
            #expect(error.failingURL?.absoluteString == "http+unix://%2Frun%2Fx/a")
            #expect(error.response?.value(forHeader: "location") == location)
        }
        // What the network refuses too is told of the socket's URL.
        let foreign = try redirect(from: "http+unix://%2Frun%2Fx/a", to: "ftp://localhost/")
        guard case .failure(let other) = foreign else { return #expect(Bool(false), "\(foreign)") }
        #expect(other.failingURL?.absoluteString == "http+unix://%2Frun%2Fx/a")
        // A manager with one socket for all hosts.
        guard case .follow(let next) = try redirect(from: "http://docker/a", to: "/b"),
            case .failure = try redirect(from: "http://docker/a", to: "http://other.test/")
        else { return #expect(Bool(false)) }
        #expect(next.url.absoluteString == "http://docker/b")
        // A server of the network.
        let request = try SessionRequest("http://h.test/")
        let response = SessionResponse(
            url: request.url, statusCode: 302, headerFields: [.location: "http+unix://%2Frun%2Fx/"])
        guard case .failure(let error) = RedirectRules().decide(request, response: response, hops: 0) else {
            return #expect(Bool(false))
        }
        #expect(error.code == .unsupportedURL)
    }

    @Test("API-505 Why a socket cannot be connected to, and what to do: file, listener, permission, kind")
    func failures() throws {
        let socket = try UnixSocket("/run/docker.sock")
        let file = UnixSocket.File(isSocket: true, permissions: 0o660, owner: "root", group: "docker")
        func text(_ error: Int32, _ file: UnixSocket.File?) -> String {
            "\(socket.failure(error, file).map { "\($0)" } ?? "")"
        }
        #expect(text(ENOENT, nil).contains("there is no socket /run/docker.sock; start its service"))
        #expect(text(ECONNREFUSED, file).contains("no process listens on /run/docker.sock; start"))
        let denied = text(EACCES, file)
        #expect(denied.contains("(root:docker 0660)") && denied.contains("usermod -aG docker USER"))
        #expect(socket.failure(EACCES, file)?.code == .noPermissionsToReadFile)
        var own = file
        for (permissions, digits) in [(0o600, "0600"), (0o640, "0640")] as [(UInt32, String)] {
            own.permissions = permissions
            #expect(text(EACCES, own).hasSuffix("(root:docker \(digits)); run as root"))
        }
        #expect(text(EACCES, nil).contains("namei -l /run/docker.sock"))
        var other = file
        other.isSocket = false
        #expect(text(ECONNREFUSED, other).contains("is no socket"))
        #expect(text(EPROTOTYPE, file).contains("SOCK_STREAM"))
        #expect(
            text(EAGAIN, file).contains("no more connections") && text(ENOTCONN, file) == text(EAGAIN, file))
        #expect(socket.failure(EIO, file) == nil)
        let abstract = try UnixSocket("@name").failure(ECONNREFUSED, nil)
        #expect(abstract?.message == "no process listens on the abstract socket @name")
        #expect(abstract?.code == .cannotConnectToHost && abstract?.advice.contains("namespace") == true)
    }

    @Test("API-506 The command line of a request to a socket names it")
    func command() throws {
        let request = try SessionRequest("http+unix://%2Frun%2Fx/v2?a")
        #expect(request.curlDescription.hasSuffix("--unix-socket /run/x \\\n    'http://localhost/v2?a'"))
        let abstract = try SessionRequest("http+unix://%40x/")
        #expect(abstract.curlDescription.contains("--abstract-unix-socket x "))
    }
}
