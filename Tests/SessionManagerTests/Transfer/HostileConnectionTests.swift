// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Connections that end too early, or when they are used again.
struct HostileConnectionTests {
    @Test(
        "a connection that ends too early is a lost connection",
        arguments: [
            "cut?after=1000&kind=rst", "cut?after=1000&kind=close", "cut?after=1000&kind=close&chunked=1",
            "cut-head?after=20&kind=close", "cut-head?after=20&kind=rst", "truncated-chunk", "no-last-chunk",
            "empty",
            "long-length", "flaky?times=9&kind=rst&key=hostile-flaky",
        ])
    func cut(_ path: String) async throws {
        let end = try await Lab.outcome(ofFault: path)
        let code = try #require(end.error?.code)
        #expect([.networkConnectionLost, .badServerResponse].contains(code), "\(end)")
        #expect(end.error?.description.isEmpty == false)
    }

    @Test(
        "an upload of what is no file fails before anything is sent",
        arguments: [
            "missing", "directory",
        ])
    func bodies(_ kind: String) async throws {
        let folder = try ScratchFolder()
        let end = try await Lab.outcome(ofFault: "early?status=200") { request in
            request.method = .post
            request.body = .file(path: kind == "missing" ? folder("missing") : folder.path)
        }
        #expect(end.error?.code == .fileDoesNotExist)
    }

    @Test("an answer before the body was read is the answer")
    func early() async throws {
        let end = try await Lab.outcome(ofFault: "early?status=413&keep=0") { request in
            request.method = .post
            request.body = .data(Data(count: 4 << 20))
        }
        #expect(end.response?.statusCode == 413 || end.error?.code == .networkConnectionLost)
    }

    @Test("UPL-521 an answer that was whole before the server closed without reading the body is the answer")
    func answeredEarly() async throws {
        let lab = try await Lab()
        let (gate, heads) = ("answered-early", EventLog<Int?>())
        lab.manager.eventMonitors = [
            EventMonitor { _, step in
                if case .received(let head) = step { heads.append(head.statusCode) }
            }
        ]
        let task = try lab.manager.dataTask(
            with: SessionRequest(
                lab.origin.faultURL("/fault/early?status=200&announced=0&kind=rst&gate=\(gate)"),
                method: .post,
                body: .data(Data(count: 16 << 20))))
        task.resume()
        await heads.wait { $0 == [200] }
        try await lab.origin.release(gate)
        let outcome = await task.outcome()
        #expect(outcome.error == nil)
        #expect(outcome.data == Data(#"{"early":true}"#.utf8))
    }

    @Test(
        "UPL-519 a refusal ends a request whose body has nothing to send yet", .timeLimit(.minutes(5)),
        arguments: [false, true])
    func refusedWhilePaused(keeps: Bool) async throws {
        let (pieces, source) = AsyncStream<Data>.makeStream()
        source.yield(Data("beginning".utf8))
        let end = try await Lab.outcome(ofFault: "early?status=413&keep=\(keeps ? 1 : 0)") { request in
            request.method = .post
            request.body = .stream(StreamedBody(pieces))
        }
        #expect(end.response?.statusCode == 413, "\(end)")
        source.finish()
    }

    @Test(
        "UPL-522 a POST that may have been carried out is not advised to be sent again, over a new connection either",
        arguments: [
            ("empty?", true), ("flaky?times=9&kind=rst", true), ("cut-head?after=20&kind=rst", true),
            ("cut-head?after=20&kind=close", true), ("cut?after=1000&kind=close", false),
            ("cut?after=1000&kind=rst", false),
        ])
    func advice(_ path: String, _ isUnknown: Bool) async throws {
        for method in [HTTPRequest.Method.post, .put] {
            let error = try await Lab.outcome(ofFault: path + "&key=advice-\(path)") { request in
                (request.method, request.body) = (method, .data(Data("body".utf8)))
            }.error
            let words = try #require(error?.description)
            #expect(words.contains("try again") == (method == .put), "\(words)")
            #expect(words.contains("ask the server before") == (method == .post), "\(words)")
            #expect(words.contains("the outcome is unknown") == (method == .post && isUnknown), "\(words)")
        }
    }

    @Test(
        "API-586 a redirect whose content is cut is followed, and nothing is sent twice",
        arguments: [HTTPRequest.Method.get, .post, .put])
    func cutRedirect(_ method: HTTPRequest.Method) async throws {
        let lab = try await Lab()
        let key = "cut-redirect-\(method)"
        let request = try SessionRequest(
            lab.origin.faultURL("/fault/cut-redirect?key=\(key)&to=/get?key=\(key)-target"), method: method,
            body: method == .get ? nil : .data(Data("body".utf8)))
        let end = try await lab.run(request, options: .retrying())
        #expect(end.error == nil && end.response?.statusCode == 200)
        #expect(try await lab.origin.count(key) == 1)
        #expect(try await lab.origin.statistics("\(key)-target").methods == ["GET": 1])
    }

    @Test(
        "API-587 a challenge whose content is cut is answered; without an answer the connection was lost",
        arguments: [false, true])
    func cutChallenge(_ refuses: Bool) async throws {
        let lab = try await Lab()
        let key = "cut-challenge-\(refuses)"
        var options = TaskOptions()
        options.credential = .password(user: "u", password: "p")
        let path = "/fault/cut-challenge?key=\(key)&refuses=\(refuses ? 1 : 0)"
        let end = try await lab.run(SessionRequest(lab.origin.faultURL(path)), options: options)
        #expect(end.error?.code == (refuses ? .networkConnectionLost : nil))
        #expect(end.response?.statusCode == (refuses ? 401 : 200))
        #expect(try await lab.origin.count(key) == 2)
    }

    @Test("a kept connection that dies as it is used again is replaced, not reported")
    func reuse() async throws {
        let lab = try await Lab()
        let request = try SessionRequest(lab.origin.faultURL("/fault/close-on-reuse?key=reuse-\(#line)"))
        for _ in 0..<3 {
            let task = try lab.manager.dataTask(with: request)
            task.resume()
            #expect(await task.outcome().error == nil)
        }
    }

    @Test(
        "what must not be carried out twice is not sent again when a kept connection ends without an answer",
        arguments: [nil, "", "body"])
    func lostAnswer(_ body: String?) async throws {
        let lab = try await Lab()
        let key = "lost-answer-\(body ?? "none")"
        for number in 0..<4 {
            // The connection is kept once, and ends when the second request has come.
            var request = try SessionRequest(
                lab.origin.faultURL("/fault/close-on-reuse?key=\(key)"), method: number < 2 ? .post : .put)
            request.body = body.map { .data(Data($0.utf8)) }
            let task = try lab.manager.dataTask(with: request)
            task.resume()
            let error = await task.outcome().error
            #expect(error?.code == (number == 1 ? .networkConnectionLost : nil))
            #expect(number != 1 || error?.message.contains("the outcome is unknown") == true)
        }
        // The third and the fourth on one connection, and the fourth once more.
        #expect(try await lab.origin.statistics(key).methods == ["POST": 2, "PUT": 3])
    }
}
