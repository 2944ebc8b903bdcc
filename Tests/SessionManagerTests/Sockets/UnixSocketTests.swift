// SPDX-License-Identifier: Apache-2.0

import CTestSupport
import FoundationEssentials
import ReachTesting
import SessionCore
import SessionManager
import TestSupport
import Testing
import WebSockets

@Suite(
    "Sockets of this machine",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(10)))
struct UnixSocketTests {
    @Test("API-507 Requests reach a socket that their URL names, without a network and past gate and proxy")
    func requests() async throws {
        let lab = try await LocalLab(["a.sock", "@\(UUID())"])
        let manager = lab.manager { $0.interface = "nothing0" }
        let waiting = try manager.dataTask(with: SessionRequest("http://device.test/"))
        waiting.resume()
        let get = try await LocalLab.echo(SessionRequest(lab.url("/echo?a=%2F")), by: manager)
        #expect(get.method == "GET" && get.target == "/echo?a=%2F" && get.fields["host"] == "localhost")
        #expect(get.socket == lab.folder("a.sock") && get.fields["proxy-connection"] == nil)
        var request = try SessionRequest(lab.url("/echo"), method: .post, body: .data(Data("body".utf8)))
        try request.setValue("local-daemon.sock", forHeader: "Host")
        let post = try await LocalLab.echo(request, by: manager)
        #expect(post.body == "body" && post.fields["host"] == "local-daemon.sock" && post.method == "POST")
        #expect(post.connection == 1 && post.request == 2)
        #expect(waiting.state == .running && waiting.response == nil)
        waiting.cancel()
    }

    @Test("API-508 A manager with a socket sends everything there; the host of a URL is the field Host")
    func configured() async throws {
        let abstract = "@\(UUID())"
        let lab = try await LocalLab(["a.sock", "b.sock", abstract])
        for name in ["a.sock", abstract] {
            let socket = name.hasPrefix("@") ? name : lab.folder(name)
            let manager = lab.manager { $0.unixSocket = socket }
            let echo = try await LocalLab.echo(SessionRequest("http://docker:81/cookie"), by: manager)
            #expect(echo.socket == socket && echo.fields["host"] == "docker:81")
            // A jar of its own, as every session.
            let next = try await LocalLab.echo(SessionRequest("http://docker:81/echo"), by: manager)
            #expect(next.fields["cookie"] == "kept=1")
            let other = try await LocalLab.echo(SessionRequest(lab.url("/echo", "b.sock")), by: manager)
            #expect(other.socket == lab.folder("b.sock") && other.fields["cookie"] == nil)
        }
        var configuration = SessionConfiguration()
        configuration.unixSocket = "/run/x"
        let data = try JSONEncoder().encode(configuration)
        #expect(try JSONDecoder().decode(SessionConfiguration.self, from: data) == configuration)
    }

    @Test("API-509 Two sockets at the same time: their connections, limits and cookies are not mixed")
    func two() async throws {
        let lab = try await LocalLab(["a.sock", "A.sock"])
        let manager = lab.manager { $0.maximumConnectionsPerHost = 1 }
        // Each takes the only slot of its socket until the end.
        let (_, events) = try await manager.stream(for: SessionRequest(lab.url("/events")))
        for _ in 0..<3 {
            let echo = try await LocalLab.echo(SessionRequest(lab.url("/cookie", "A.sock")), by: manager)
            #expect(echo.socket == lab.folder("A.sock") && echo.fields["cookie"] == nil)
        }
        let second = try manager.dataTask(with: SessionRequest(lab.url("/echo")))
        second.resume()
        let emitted = try await LocalLab.echo(SessionRequest(lab.url("/emit", "A.sock")), by: manager)
        #expect(emitted.connection == 1 && emitted.request == 4)
        var content = Data()
        for try await chunk in events { content += chunk }
        #expect(content == Data("one\ntwo\n".utf8))
        let outcome = await second.outcome()
        let echo = try JSONDecoder().decode(LocalLab.Echo.self, from: try #require(outcome.data))
        #expect(echo.socket == lab.folder("a.sock") && echo.connection == 1 && echo.request == 2)
    }

    @Test("API-510 A stream of events comes as it is sent")
    func events() async throws {
        let lab = try await LocalLab()
        let manager = lab.manager()
        let (response, events) = try await manager.stream(for: SessionRequest(lab.url("/events")))
        #expect(response.statusCode == 200)
        var iterator = events.makeAsyncIterator()
        #expect(try await iterator.next() == Data("one\n".utf8))
        _ = try await LocalLab.echo(SessionRequest(lab.url("/emit")), by: manager)
        #expect(try await iterator.next() == Data("two\n".utf8))
        #expect(try await iterator.next() == nil)
    }

    @Test("API-511 A redirect is followed on the socket, and refused elsewhere")
    func redirects() async throws {
        let lab = try await LocalLab()
        let manager = lab.manager()
        let echo = try await LocalLab.echo(
            SessionRequest(lab.url("/moved?to=http://localhost/echo?b")), by: manager)
        #expect(echo.target == "/echo?b" && echo.request == 2)
        for (url, other) in [
            (lab.url("/moved?to=http://other.test/"), manager),
            (
                "http://localhost/moved?to=http://other.test/",
                lab.manager { $0.unixSocket = lab.folder("a.sock") }
            ),
        ] {
            let error = try #require(
                await #expect(throws: SessionError.self) {
                    _ = try await other.data(for: SessionRequest(url))
                })
            #expect(error.code == .unsupportedURL && error.message.contains("other.test"))
        }
    }

    @Test("API-512 A socket that appears later is an error first, and works then")
    func later() async throws {
        let lab = try await LocalLab([])
        let manager = lab.manager()
        let request = try SessionRequest(lab.url("/echo"))
        let error = try #require(
            await #expect(throws: SessionError.self) { _ = try await manager.data(for: request) })
        #expect(
            error.code == .cannotConnectToHost
                && error.message == "there is no socket \(lab.folder("a.sock"))")
        #expect(error.failingURL == request.url && error.transport?.curlCode == 7)
        let server = try await LocalLab.serve([lab.folder("a.sock")], in: lab.namespace)
        #expect(try await LocalLab.echo(request, by: manager).connection == 1)
        server.terminate(signal: 9)
        _ = try await server.status()
        let refused = try #require(
            await #expect(throws: SessionError.self) { _ = try await manager.data(for: request) })
        #expect(refused.message == "no process listens on \(lab.folder("a.sock"))")
        try FileManager.default.removeItem(atPath: lab.folder("a.sock"))
        try Data().write(to: URL(filePath: lab.folder("a.sock")))
        let wrong = try #require(
            await #expect(throws: SessionError.self) { _ = try await manager.data(for: request) })
        #expect(wrong.message == "\(lab.folder("a.sock")) is no socket")
    }

    @Test(
        "API-513 A socket of another user's is an error that names its group, and a long path one that says so"
    )
    func permissions() async throws {
        let lab = try await LocalLab()
        let manager = lab.manager()
        let request = try SessionRequest(lab.url("/echo"))
        try await lab.namespace.run("chmod", "0755", lab.folder.path)
        try await lab.namespace.run("chmod", "0660", lab.folder("a.sock"))
        try await lab.namespace.run("chgrp", "daemon", lab.folder("a.sock"))
        // The thread of the loop alone: connect(2) goes by its file system user (setfsuid(2)).
        try await lab.namespace.perform { ctest_set_file_user(65534) }
        let error = try #require(
            await #expect(throws: SessionError.self) { _ = try await manager.data(for: request) })
        try await lab.namespace.perform { ctest_set_file_user(0) }
        #expect(error.code == .noPermissionsToReadFile && error.message.contains("(root:daemon 0660)"))
        #expect(error.advice.contains("the group daemon"))
        #expect(try await LocalLab.echo(request, by: manager).connection == 1)
        let other = lab.manager { $0.unixSocket = "/" + String(repeating: "x", count: 107) }
        let long = try #require(
            await #expect(throws: SessionError.self) {
                _ = try await other.data(for: SessionRequest("http://localhost/"))
            })
        #expect(long.code == .badURL && long.message.contains("at most 107 bytes"))
    }

    @Test("API-514 A WebSocket goes over a socket that the manager or its own address names")
    func webSockets() async throws {
        let lab = try await LocalLab()
        let configured = lab.manager { $0.unixSocket = lab.folder("a.sock") }
        for (manager, address, host) in [
            (configured, "ws://supervisor/socket?a", "supervisor"),
            (lab.manager(), lab.url("/socket?a", scheme: "ws"), "localhost"),
        ] {
            var messages: [WebSocketMessage] = []
            for try await message in try manager.webSocket(address).messages { messages.append(message) }
            #expect(messages == [.text("hello /socket?a \(host)")])
        }
    }

    @Test("API-515 The base of a web service may be a socket; a manager of the network alone reaches none")
    func base() async throws {
        let lab = try await LocalLab()
        let api = try HTTPSessionManager(baseURL: lab.url("/v2"), urlSessionManager: lab.manager())
        #expect(try api.url("apps?a").absoluteString == lab.url("/v2/apps?a"))
        #expect(throws: SessionError.self) { _ = try api.url("http+unix://relative/") }
        let (data, _) = try await api.urlSessionManager.data(for: api.request(.get, "apps"))
        #expect(try JSONDecoder().decode(LocalLab.Echo.self, from: data).target == "/v2/apps")
        let plain = URLSessionManager(
            configuration: SessionConfiguration { $0.proxy = "" }, securityPolicy: .default,
            on: lab.namespace.reactor, sockets: nil)
        let error = try #require(
            await #expect(throws: SessionError.self) {
                _ = try await plain.data(for: SessionRequest(lab.url("/echo")))
            })
        #expect([.badURL, .unsupportedURL].contains(error.code))
    }

    @Test("API-516 A lost network takes no transfer from a socket")
    func lostPath() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let folder = try ScratchFolder()
        let server = try await LocalLab.serve([folder("a.sock")], in: paths.lab.near)
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        let manager = URLSessionManager(
            configuration: configuration, securityPolicy: .default, on: paths.lab.near.reactor)
        let base = "http+unix://\(folder("a.sock").replacing("/", with: "%2F"))"
        let (_, events) = try await manager.stream(for: SessionRequest("\(base)/events"))
        let download = try manager.downloadTask(with: SessionRequest(paths.base + "/blob?stall=65536"))
        download.resume()
        try await paths.waitForStalls()
        try await paths.cut(.carrierLost)
        #expect(await download.outcome().error == nil)
        let echo = try await LocalLab.echo(SessionRequest("\(base)/emit"), by: manager)
        #expect(echo.connection == 2)
        var content = Data()
        for try await chunk in events { content += chunk }
        #expect(content == Data("one\ntwo\n".utf8))
        server.terminate(signal: 9)
    }
}
