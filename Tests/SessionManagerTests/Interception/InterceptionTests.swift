// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

struct InterceptionTests {
    @Test("adapters change what is sent, the manager's first, and again with each try")
    func adapters() async throws {
        let lab = try await Lab()
        lab.manager.interceptor = Interceptor(adapters: [
            Adapter { request, state in
                var request = request
                try request.setValue("manager", forHeader: "X-From")
                try request.setValue("\(state.retryCount)", forHeader: "X-Try")
                return request
            }
        ])
        var options = TaskOptions()
        options.interceptor = Interceptor(
            adapters: [
                Adapter { request, _ in
                    var request = request
                    try request.setValue(
                        (request.headerFields.first { $0.name.canonicalName == "x-from" }?.value ?? "")
                            + "+task", forHeader: "X-From")
                    return request
                }
            ],
            retriers: [Retrier { _, state, _ in state.retryCount < 1 ? .retry : .doNotRetry }])
        let end = try await lab.run(
            lab.request("/retry-after?key=adapters&times=1&status=503&after=0"), options: options)
        #expect(end.response?.statusCode == 200)
        #expect(end.json?["headers"]?["X-From"] == "manager+task")
        #expect(end.json?["headers"]?["X-Try"] == "1")
    }

    @Test("a policy tries refused and failing requests again, as often as it says and no more")
    func policy() async throws {
        let lab = try await Lab()
        let options = TaskOptions.retrying(respectsRetryAfter: false)
        let path = "/retry-after?times=2&status=503"
        #expect(try await lab.run(lab.request("\(path)&key=policy-get"), options: options).error == nil)
        #expect(try await lab.origin.count("policy-get") == 3)
        let post = try await lab.run(
            lab.request("\(path)&key=policy-post", .post, body: .data(Data())), options: options)
        #expect(post.error?.code == .badServerResponse)
        #expect(try await lab.origin.count("policy-post") == 1)
        let refused = try await lab.run(lab.request("/", at: .refused), options: options)
        #expect(refused.error?.code == .cannotConnectToHost)
    }

    @Test(
        "the reader of a stream that is tried again gets each byte once: the rest where the server tells the version, else an error",
        arguments: [true, false])
    func stream(_ isTagged: Bool) async throws {
        let lab = try await Lab()
        let options = TaskOptions.retrying()
        let key = "retried-stream-\(isTagged)"
        let path =
            "/fault/cut?n=100000&after=30000&kind=rst&times=2&key=\(key)\(isTagged ? "" : "&etag=0&lm=0")"
        let (_, content) = try await lab.manager.stream(
            for: SessionRequest(lab.origin.faultURL(path)), options: options)
        var read: [UInt8] = []
        do {
            for try await chunk in content { read += chunk }
            #expect(isTagged)
        } catch {
            #expect(!isTagged && error.code == .networkConnectionLost, "\(error)")
        }
        #expect(read.count == (isTagged ? 100_000 : 30_000))
        #expect(read == OriginContent.bytes(0..<read.count))
        #expect(try await lab.origin.count(key) == (isTagged ? 3 : 1))
    }

    @Test("the content of a refusal is not put before that of another try")
    func refusedStream() async throws {
        let lab = try await Lab()
        var options = TaskOptions()
        options.interceptor = RetryPolicy()
        let (head, content) = try await lab.manager.stream(
            for: lab.request("/retry-after?key=refused-stream&times=1&status=503&after=0"), options: options)
        #expect(head.statusCode == 503)
        for try await _ in content {}
        #expect(try await lab.origin.count("refused-stream") == 1)
    }

    @Test("what an adapter throws fails the task")
    func failingAdapter() async throws {
        struct Refusal: Error {}
        let lab = try await Lab()
        var options = TaskOptions()
        options.interceptor = Interceptor(adapters: [Adapter { _, _ in throw Refusal() }])
        let end = try await lab.run(lab.request("/get?key=failing-adapter"), options: options)
        #expect(end.error?.underlying is Refusal)
        #expect(try await lab.origin.count("failing-adapter") == 0)
    }

    @Test("retriers are asked after a failure of an adapter")
    func retriedAdapter() async throws {
        struct Refusal: Error {}
        let lab = try await Lab()
        var options = TaskOptions()
        options.interceptor = Interceptor(
            adapters: [
                Adapter { request, state in
                    if state.retryCount == 0 { throw Refusal() }
                    return request
                }
            ],
            retriers: [
                Retrier { _, _, error in
                    (error as? SessionError)?.underlying is Refusal ? .retry : .doNotRetry
                }
            ])
        let end = try await lab.run(lab.request("/get"), options: options)
        #expect(end.response?.statusCode == 200)
    }
}
