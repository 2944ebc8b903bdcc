// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
import HTTPTypes
public import SessionCore

/// What an ``InternetProbe`` asks, and how often.
public struct InternetProbeConfiguration: Sendable, Equatable {
    /// What is asked for; a server of your own, whose answer no other server gives.
    ///
    /// Over http a page to sign in is seen as such; over https mostly as a certificate that does not fit.
    public var url: URL
    /// How the answer looks.
    public var expectation: InternetExpectation
    /// How long a question may take, look-up and connection included; 10 s.
    public var timeout: Duration = .seconds(10)
    /// The pause after the first answer that is not ``SessionCore/InternetState/full``; 1 s.
    ///
    /// Each further one doubles it.
    public var firstPause: Duration = .seconds(1)
    /// The longest of these pauses; 300 s.
    ///
    /// While tasks of a queue whose ``RequestQueue/internetProbe`` it is wait for the internet, it is 15 s at
    /// most, but for expensive uplinks.
    public var longestPause: Duration = .seconds(300)
    /// The pause after an answer that is ``SessionCore/InternetState/full``; 600 s.
    public var fullPause: Duration = .seconds(600)
    /// The least pause between questions over an expensive uplink; nil.
    ///
    /// For one in use after an answer that is ``SessionCore/InternetState/full`` alone, where it is longer
    /// than ``fullPause``. Nil: one that is not in use is asked only while the preferred uplink is
    /// ``SessionCore/InternetState/limited`` or ``SessionCore/InternetState/portal``.
    public var expensivePause: Duration?
    /// The longest pause while tasks wait for the internet.
    package var longestAwaitedPause: Duration = .seconds(15)
    /// How long a network's own API may take for its answer; 3 s, or ``timeout`` where that is shorter.
    package var portalTimeout: Duration { min(timeout, longestPortalTimeout) }
    package var longestPortalTimeout: Duration = .seconds(3)
    /// Where the files of systemd-networkd are; empty for `/`.
    package var systemRoot = ""

    /// A configuration.
    ///
    /// - Parameters:
    ///   - url: an http or https URL.
    ///   - expectation: how the answer looks; status 200 to 299 unless said.
    public init(_ url: URL, expectation: InternetExpectation = InternetExpectation()) {
        self.url = url
        self.expectation = expectation
    }

    var timing: InternetProbeStateMachine.Timing {
        var timing = InternetProbeStateMachine.Timing()
        timing.firstPause = max(1, firstPause.nanoseconds)
        timing.longestPause = max(timing.firstPause, longestPause.nanoseconds)
        timing.longestAwaitedPause = max(1, longestAwaitedPause.nanoseconds)
        timing.fullPause = max(1, fullPause.nanoseconds)
        timing.expensivePause = expensivePause.map { max(1, $0.nanoseconds) }
        return timing
    }

    /// The question to a network about its page to sign in.
    func portalRequest(_ url: URL) -> SessionRequest {
        var portalRequest = request
        portalRequest.url = url
        portalRequest.headerFields[.accept] = CaptivePortal.mediaType
        portalRequest.options.maximumContentLength = CaptivePortal.longestAnswer
        portalRequest.options.timeoutInterval = portalTimeout
        portalRequest.options.timeouts = RequestTimeouts(total: portalTimeout)
        return portalRequest
    }

    /// The question: over a connection of its own, since a kept one says nothing about the path of now.
    var request: SessionRequest {
        var request = SessionRequest(url: url)
        request.headerFields[.cacheControl] = "no-cache"
        request.headerFields[.connection] = "close"
        request.options.cachePolicy = .reloadIgnoringLocalCacheData
        request.options.handlesCookies = false
        request.options.maximumHTTPVersion = .http1_1
        request.options.maximumContentLength = 64 << 10
        request.options.timeoutInterval = timeout
        request.options.timeouts = RequestTimeouts(total: timeout)
        return request
    }
}
