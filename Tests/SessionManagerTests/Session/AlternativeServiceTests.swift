// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Servers that name another place by which they may be asked (RFC 7838), and HTTP/3.
struct AlternativeServiceTests {
    private func lab(_ file: String) async throws -> Lab {
        let lab = try await Lab { $0.alternativeServices = file }
        lab.trustOrigin()
        return lab
    }

    /// Has the server at `https` name another listener.
    private func announce(_ lab: Lab, _ listener: OriginListener, version: String = "h2") async throws {
        let field = "\(version)%3D%22:\(lab.origin.port(listener))%22%3B%20ma%3D1000"
        let end = try await lab.run(lab.request("/response-headers?Alt-Svc=\(field)", at: .https))
        #expect(end.error == nil, "\(end)")
    }

    /// The ports that connections of a request to `https` were made to.
    private func ports(_ lab: Lab) async throws -> [Int] {
        let task = try lab.manager.dataTask(with: lab.request("/get", at: .https))
        task.resume()
        let outcome = await task.outcome()
        #expect(outcome.error == nil && outcome.response?.statusCode == 200, "\(outcome)")
        return outcome.metrics.compactMap { $0.remote?.port }
    }

    @Test("API-480 The next request goes to the port that the server has named, by its version and its name")
    func otherPort() async throws {
        let lab = try await lab("")
        #expect(try await ports(lab) == [lab.origin.port(.https)])
        try await announce(lab, .h2)
        #expect(try await ports(lab) == [lab.origin.port(.h2)])
        let task = try lab.manager.dataTask(with: lab.request("/connection", at: .https))
        task.resume()
        #expect(await task.outcome().response?.version == .http2)
        // Off unless asked for.
        let plain = try await Lab()
        plain.trustOrigin()
        try await announce(plain, .h2)
        #expect(try await ports(plain) == [plain.origin.port(.https)])
    }

    @Test("API-480 The other place has to show the certificate of the URL's host")
    func certificate() async throws {
        let lab = try await lab("")
        try await announce(lab, .wrongName)
        let end = try await lab.run(lab.request("/get", at: .https))
        #expect(end.error?.code == .certificateUntrusted, "\(end)")
    }

    @Test("API-481 The file outlasts the session, in curl's format")
    func file() async throws {
        let folder = try ScratchFolder()
        let first = try await lab(folder("alt-svc"))
        try await announce(first, .h2)
        first.manager.invalidate(resettingSession: true)
        // The handles are closed on the loop, behind what was asked of it before.
        let other = try await Lab()
        for _ in 0..<1_000 where folder.names.isEmpty { _ = try await other.run(other.request("/get")) }
        let text = try String(decoding: Data(contentsOf: URL(filePath: folder("alt-svc"))), as: UTF8.self)
        #expect(text.contains("origin.test \(first.origin.port(.h2))"), "\(text)")
        let second = try await lab(folder("alt-svc"))
        #expect(try await ports(second) == [second.origin.port(.h2)])
    }

    @Test("API-481 A file that cannot be read is an error which says so")
    func unusableFiles() async throws {
        let folder = try ScratchFolder()
        #expect(mkfifo(folder("pipe"), 0o600) == 0)
        for (path, code) in [
            (folder("pipe"), SessionError.Code.cannotOpenFile), (folder.path, .cannotOpenFile),
            (folder("missing/file/"), nil),
        ] as [(String, SessionError.Code?)] {
            let lab = try await lab(path)
            let end = try await lab.run(lab.request("/get?key=api481"))
            #expect(end.error?.code == code, "\(path): \(end)")
        }
    }

    @Test("API-482 HTTP/3 is an error which names it where libcurl was built without, and others go on")
    func http3() async throws {
        let lab = try await Lab()
        lab.trustOrigin()
        var request = try lab.request("/get", at: .https)
        request.options.maximumHTTPVersion = .http3
        let end = try await lab.run(request)
        if try CurlLibrary.load().hasHTTP3 {
            // It falls back to HTTP/2, since nothing answers QUIC there.
            #expect(end.error == nil, "\(end)")
        } else {
            let error = try #require(end.error)
            #expect(error.code == .missingLibrary && error.message.hasPrefix("HTTP/3 needs"), "\(error)")
            #expect(error.failingURL == request.url)
        }
        #expect(try await lab.run(lab.request("/get", at: .https)).error == nil)
    }
}
