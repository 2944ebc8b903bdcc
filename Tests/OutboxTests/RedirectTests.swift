// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import TestSupport
import Testing

@testable import Outbox

/// The outbox and redirects by a server or a captive portal.
@Suite struct RedirectTests {
    private let lab: DeliveryLab
    /// Counts what arrives at the target of a redirect.
    private var target: String { "\(lab.account)-target" }

    init() async throws { lab = try await DeliveryLab() }

    private func redirect(_ status: Int, to location: String) -> String {
        let unreserved = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
        let digits = Array("0123456789ABCDEF".utf8)
        let text = location.utf8.flatMap { byte -> [UInt8] in
            unreserved.contains(byte) ? [byte] : [37, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return
            "/redirect-to?key=\(lab.account)&code=\(status)&read=1&url=\(String(decoding: text, as: UTF8.self))"
    }

    /// The first outcome of a request: delivered (nil), or its failure.
    private func outcome(
        _ request: OutboxRequest, _ manager: URLSessionManager = OutboxLab.manager()
    ) async throws -> OutboxFailure? {
        // A failed attempt is not repeated within the test.
        let outbox = try await lab.open {
            $0.retries.first = .seconds(3_600)
            $0.retries.longest = .seconds(3_600)
        }
        try await outbox.startDelivery(with: manager)
        let receipt = try await outbox.enqueue(request)
        let failure = try await lab.wait { event -> OutboxFailure?? in
            switch event {
            case .delivered(receipt.id, _): .some(nil)
            case .failed(receipt.id, let failure, _), .died(receipt.id, let failure): failure
            default: nil
            }
        }
        #expect(try await outbox.entry(receipt.id)?.state == (failure == nil ? nil : .waiting))
        await outbox.close()
        return failure
    }

    private func post(_ url: String) throws -> OutboxRequest {
        try OutboxRequest(to: url, body: .data(Data("content".utf8)))
    }

    @Test(
        "A POST that would arrive as a GET without its content is not delivered, and not given up",
        arguments: [301, 302, 303])
    func rewritten(status: Int) async throws {
        let url = lab.origin.url(redirect(status, to: "/get?key=\(target)"))
        let failure = try #require(try await outcome(post(url)))
        #expect(failure.kind == .server && failure.statusCode == status)
        #expect(failure.message.contains("/get?key=\(target)"))
        #expect(try await lab.origin.count(target) == 0)
    }

    @Test("A GET is not counted as arrived at a page to sign in")
    func portal() async throws {
        let url = lab.origin.url(redirect(302, to: "/get?key=\(target)"))
        let failure = try #require(try await outcome(OutboxRequest(url, method: .get)))
        #expect(failure.statusCode == 302)
        #expect(try await lab.origin.count(target) == 0)
    }

    @Test("A POST that is kept whole arrives where the server wants it", arguments: [307, 308])
    func kept(status: Int) async throws {
        let url = lab.origin.url(redirect(status, to: "/upload?key=\(target)"))
        #expect(try await outcome(post(url)) == nil)
        #expect(try await lab.origin.statistics(target).received == 7)
    }

    @Test("A secret does not follow a redirect to another origin, nor does its request without it")
    func secret() async throws {
        let file = lab.outbox.folder("token")
        try Data("s3cr3t".utf8).write(to: URL(filePath: file))
        var request = try post(
            lab.origin.url(redirect(307, to: lab.origin.url("/post?key=\(target)", at: .direct))))
        request.secretFields = [SecretField(name: "X-Device-Token", source: "file", key: file)]
        let failure = try #require(try await outcome(request))
        #expect(failure.kind == .server && failure.statusCode == 307)
        #expect(try await lab.origin.count(target) == 0)
    }

    @Test(
        "Redirects without an end, and to what is no address, give nothing up",
        arguments: ["loop", "mailto:a@b"])
    func nowhere(place: String) async throws {
        let path = place == "loop" ? "/loop?code=307&key=\(lab.account)" : redirect(307, to: place)
        let failure = try #require(try await outcome(post(lab.origin.url(path))))
        #expect(failure.kind == .server && failure.statusCode == 307, "\(failure)")
    }

    @Test("303 by https is the server's word that it was carried out; nothing goes from https to http")
    func secure() async throws {
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        configuration.hostAddresses = lab.origin.resolveEntries
        var policy = SecurityPolicy()
        policy.trustRoots = .only(.file(lab.origin.pem(.root)))
        var queue = RequestQueue.Settings()
        queue.follows = .none
        let manager = URLSessionManager(
            configuration: configuration, securityPolicy: policy,
            responseSerializer: HTTPResponseSerializer(), queue: queue)
        let done = try post(lab.origin.tlsURL(redirect(303, to: "/get?key=\(target)")))
        #expect(try await outcome(done, manager) == nil)
        let down = try post(
            lab.origin.tlsURL(redirect(307, to: lab.origin.url("/post?key=\(target)", host: "origin.test"))))
        #expect(try await outcome(down, manager)?.statusCode == 307)
        #expect(try await lab.origin.count(target) == 0)
    }
}
