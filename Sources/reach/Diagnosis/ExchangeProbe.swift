// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionManager
import Synchronization

/// Asks the server for the URL once, without following redirects, and reads the first 256 KiB of what it says.
struct ExchangeProbe {
    let url: URL
    let policy: SecurityPolicy

    /// What a small packet carries: every link must be able to (RFC 9293 §3.7.1).
    static let smallSegment = 536
    private static let limit: Int64 = 256 << 10
    /// A server may think for so long.
    private static let silence: Duration = .seconds(6)

    /// - Parameter segmentSize: The most content of a packet in bytes; nil for what the links take.
    /// - Returns: nil where somebody interrupted it.
    func observe(segmentSize: Int? = nil) -> ExchangeObservation? {
        let vigil = Vigil()
        var queue = RequestQueue.Settings()
        queue.follows = .nobody
        var request = SessionRequest(url: url)
        request.options.cachePolicy = .reloadIgnoringLocalCacheData
        request.options.decompressesContent = false
        request.options.timeoutInterval = Self.silence
        request.options.maximumSegmentSize = segmentSize
        let answer = Mutex<ExchangeObservation?>(nil)
        let work = Task { [request, queue, policy] in
            let manager = URLSessionManager(securityPolicy: policy, queue: queue)
            let seen = await Self.ask(request, manager)
            manager.invalidate()
            answer.withLock { $0 = seen }
            vigil.finish()
        }
        // However slowly it comes: a minute is an answer as well.
        let limit = Clock.monotonic + .seconds(60)
        let end = vigil.wait(watchesOutput: false, until: { limit })
        work.cancel()
        if end == .interrupted { return nil }
        return answer.withLock { $0 } ?? ExchangeObservation(outcome: .silent)
    }

    private static func ask(_ request: SessionRequest, _ manager: URLSessionManager) async
        -> ExchangeObservation
    {
        var options = TaskOptions()
        options.redirectHandler = Redirector.doNotFollow
        do throws(SessionError) {
            let (response, content) = try await manager.stream(for: request, options: options)
            var seen = ExchangeObservation(
                outcome: .answered(
                    status: response.statusCode ?? 0, location: response.value(forField: "location")),
                clockAhead: ahead(response.value(forField: "date")))
            var count: Int64 = 0
            do throws(SessionError) {
                var chunks = content.makeAsyncIterator()
                while count < limit, let chunk = try await chunks.next() { count += Int64(chunk.count) }
            } catch {
                if error.code == .timedOut { seen.outcome = .silent }
            }
            return seen
        } catch {
            return ExchangeObservation(outcome: outcome(error))
        }
    }

    private static func outcome(_ error: SessionError) -> ExchangeObservation.Outcome {
        switch error.code {
        case .timedOut: .silent
        case .certificateHasBadDate, .certificateNotYetValid: .notValidNow(error.message)
        case .certificateUntrusted: .otherServer(error.message)
        case .certificateHasUnknownRoot: .unknownAuthority(error.message)
        case .missingLibrary: .libraryMissing(error.description)
        // Instead of a tunnel; a SOCKS proxy has no status.
        case .userAuthenticationRequired where error.transport?.isOfProxy != true:
            .answered(status: 407, location: nil)
        default: .failed(error.message)
        }
    }

    private static func ahead(_ date: String?) -> Int64? {
        let now = Clock.wall.nanoseconds / 1_000_000_000
        return date.flatMap { HTTPDate($0, now: HTTPDate(seconds: now)) }.map { now - $0.seconds }
    }
}
