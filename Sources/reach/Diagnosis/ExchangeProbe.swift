// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import HTTPTypes
import Reachability
import SessionManager
import Synchronization

/// Requests the URL once, without following redirects, and reads the beginning of the answer.
struct ExchangeProbe {
    let url: URL
    var policy: SecurityPolicy
    /// The expected answer; nil without one.
    var expectation: InternetExpectation?
    private var method = HTTPRequest.Method.get
    /// Evaluates the certificates instead of the policy.
    private var witness: CertificateWitness?

    init(url: URL, policy: SecurityPolicy, expectation: InternetExpectation? = nil) {
        self.url = url
        self.policy = policy
        self.expectation = expectation
    }

    /// The content of a packet that every link must be able to carry (RFC 9293 §3.7.1).
    static let smallSegment = 536
    private static let limit = 256 << 10
    /// The bytes of content that are judged; as many as the internet probe reads.
    private static let contentLimit = 64 << 10
    /// The longest silence of the server.
    private static let silence: Duration = .seconds(6)

    /// Requests only the time and the certificate of the same server; sends only host and port of the URL.
    var ofTimes: ExchangeProbe {
        var probe = ExchangeProbe(url: root(), policy: policy)
        probe.method = .head
        probe.witness = CertificateWitness()
        return probe
    }

    /// Probes the same host without TLS, to find a captive portal; nil if the URL has an unusual port.
    var inTheClear: ExchangeProbe? {
        guard url.scheme?.lowercased() == "https", url.port ?? 443 == 443 else { return nil }
        return ExchangeProbe(url: root(scheme: "http"), policy: policy)
    }

    /// The root page of the host, without the URL's user and password.
    private func root(scheme: String? = nil) -> URL {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url }
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        parts.path = "/"
        if let scheme { (parts.scheme, parts.port) = (scheme, nil) }
        return parts.url ?? url
    }

    /// - Parameter segmentSize: the most content of a packet in bytes; nil for the link's limit.
    /// - Returns: nil if interrupted.
    /// - Throws: the exit code, after the message, if no descriptor or thread is left to wait with.
    func observe(segmentSize: Int? = nil) throws(ExitCode) -> ExchangeObservation? {
        let waiter = try MainThreadWaiter.begin(forTask: true, orExit: .cannotMonitor)
        var queue = RequestQueue.Settings()
        queue.follows = .none
        // Its failure is what is looked for.
        queue.waitsForClock = false
        var request = SessionRequest(url: url, method: method)
        request.options.cachePolicy = .reloadIgnoringLocalCacheData
        request.options.decompressesContent = false
        request.options.timeoutInterval = Self.silence
        request.options.timeouts = RequestTimeouts(connect: Self.silence)
        request.options.maximumSegmentSize = segmentSize
        let answer = Mutex<ExchangeObservation?>(nil)
        let work = Task { [self, request, queue] in
            let manager = URLSessionManager(sockets: nil, securityPolicy: policy, queue: queue)
            manager.delegate = witness
            var seen = await send(request, manager)
            seen.certificate = witness?.times
            manager.invalidate()
            answer.withLock { $0 = seen }
            waiter.finish()
        }
        // A minute is enough even for slow content.
        let limit = Clock.monotonic + .seconds(60)
        let end = waiter.wait(watchesOutput: false, until: { limit })
        work.cancel()
        if end == .interrupted { return nil }
        return answer.withLock { $0 } ?? ExchangeObservation(outcome: .silent)
    }

    private func send(_ request: SessionRequest, _ manager: URLSessionManager) async -> ExchangeObservation {
        var options = TaskOptions()
        options.redirectHandler = Redirector.doNotFollow
        do throws(SessionError) {
            let (response, content) = try await manager.stream(for: request, options: options)
            var seen = ExchangeObservation(
                outcome: .answered(
                    status: response.statusCode ?? 0, location: response.value(forHeader: "location")),
                clockAhead: Self.ahead(response.value(forHeader: "date")))
            var (beginning, count) = (Data(), 0)
            do throws(SessionError) {
                var chunks = content.makeAsyncIterator()
                while count < Self.limit, let chunk = try await chunks.next() {
                    count += chunk.count
                    beginning += chunk.prefix(Self.contentLimit - beginning.count)
                }
            } catch {
                if error.code == .timedOut { seen.outcome = .silent }
            }
            seen.page = AnsweredPage(beginning, type: response.value(forHeader: "content-type"))
            seen.isExpected = expectation.map { $0.judge(response, data: beginning, error: nil) == .full }
            return seen
        } catch {
            return ExchangeObservation(outcome: Self.outcome(error))
        }
    }

    private static func outcome(_ error: SessionError) -> ExchangeObservation.Outcome {
        switch error.code {
        case .timedOut: .silent
        case .certificateHasBadDate, .certificateNotYetValid:
            .notValidNow(error.message, ClockProbe.observe())
        case .certificateUntrusted: .otherServer(error.message)
        case .certificateHasUnknownRoot: .unknownAuthority(error.message)
        case .secureConnectionFailed: .brokenTLS(error.message)
        case .missingLibrary: .libraryMissing(error.description)
        // From the proxy, in place of a tunnel; a SOCKS proxy has no status.
        case .userAuthenticationRequired where error.transport?.isOfProxy != true:
            .answered(status: 407, location: nil)
        default: .failed(error.message)
        }
    }

    private static func ahead(_ date: String?) -> Int64? {
        let now = ClockProbe.now
        return date.flatMap { HTTPDate($0, now: HTTPDate(seconds: now)) }.map { now - $0.seconds }
    }
}
