// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import FoundationEssentials
import HTTPTypes
import SessionCore

/// One exchange on the wire: a request as it is sent, and the response that is used.
///
/// Redirects, retries and the credentials that Reach sends are further exchanges; the rounds that libcurl
/// makes itself (NTLM, a 417) belong to this one. Lives on the loop's thread.
package final class Transfer {
    /// What is sent.
    package var request: SessionRequest { _read { yield sharedRequest.value } }
    /// Under which conditions; read where they lie.
    var options: RequestOptions { _read { yield sharedRequest.value.sharedOptions.value } }
    private let sharedRequest: Shared<SessionRequest>
    /// Its URL as text, as the server sees it.
    let address: String
    /// Its way to a socket of this machine; nil over the network.
    let route: SocketRoute?
    /// Nil when it has ended.
    private(set) var delegate: (any TransferDelegate)?
    /// Its handle, while libcurl carries it out.
    private(set) var easy: EasyHandle?
    /// What its sockets are bound to.
    let binding: PathBinding
    /// Written by the pool of its connection.
    var pooling = PoolMembership()
    /// The last connection that was opened for it.
    private(set) var socket: Int32 = -1
    /// The origin whose connections it uses.
    let origin: String
    /// More urgent ones start first.
    let priority: Float
    /// What has come before the content; written as it is read.
    var heads = ReceivedHeads()
    /// What a callback found wrong; says more than libcurl's code for an aborted callback.
    private(set) var failure: SessionError?
    /// The content of the response.
    private(set) var content = TransferContent()
    /// What it sends besides the head.
    private(set) var body = TransferBody()
    private var resends = ResendGuard()
    /// The engine's time of the last byte, or of the start.
    private(set) var lastActivity: Int64 = 0
    /// What is wrong with the line, where its connection has shown it; written by the monitor of lines.
    var lineFault: String?
    /// The user's pause; written by its carrier.
    package var isSuspended = false
    /// Written by the admission to its origin.
    var slot = HostSlot()
    private let clock: LoopClock
    /// Whether it goes over TLS.
    let isSecure: Bool
    /// Whether it needs a connection of its own also where the server speaks HTTP/2.
    let isAlone: Bool
    /// What decides about its handshakes, where libcurl does not do that alone.
    private let judge: TrustEvaluator.Judge
    /// Judges its handshakes, where libcurl does not do that alone.
    private(set) var evaluator: TrustEvaluator?
    /// Whether much content is expected, which is worth a big buffer.
    let isBulk: Bool
    /// Nil where it may go as fast as it can.
    private let pace: TransferPace?
    /// Nil where only silence limits how long the server takes to answer.
    private var firstByte: FirstByteLimit?
    /// What libcurl is to authenticate with by itself, in several rounds.
    let credentials: LibraryCredentials?
    /// Whether it may use no connection that is there already.
    let needsNewConnection: Bool
    /// Whether it connects and sends nothing (CURLOPT_CONNECT_ONLY(3)).
    let isTrial: Bool
    /// Gets its connection instead of an exchange by libcurl; nil for ordinary transfers.
    private(set) var takeover: (any ConnectionTakeover)?

    init(
        _ request: Shared<SessionRequest>, priority: Float, isBulk: Bool, credentials: LibraryCredentials?,
        needsNewConnection: Bool = false, isTrial: Bool = false, binding: PathBinding = .any,
        serverTrust: ServerTrustFlow? = nil, engine: any TransferCarrier, delegate: any TransferDelegate
    ) {
        self.binding = binding
        self.isTrial = isTrial
        let turn = engine.turn
        clock = turn.clock
        self.isBulk = isBulk
        self.credentials = credentials
        self.needsNewConnection = needsNewConnection
        sharedRequest = request
        self.priority = priority
        self.delegate = delegate
        let text = request.value.url.absoluteString
        route = engine.route(to: text)
        if let route {
            (address, origin, isSecure) = (route.address, route.origin, route.isSecure)
        } else {
            address = text
            (origin, isSecure) = engine.origin(of: text)
        }
        isAlone = isSecure && Self.needsOwnConnection(request.value, engine)
        let server = origin
        if isSecure, let approvals = engine.approvals {
            judge = serverTrust?.judge(approvals, server) ?? approvals.judge(for: server)
        } else {
            judge = .policy
        }
        pace = TransferPace.make(
            content: request.value.sharedOptions.value.maximumBytesPerSecond,
            body: request.value.sharedOptions.value.maximumUploadBytesPerSecond, engine.sessionPace,
            turn: turn)
        firstByte = request.value.sharedOptions.value.timeouts.firstByte.map {
            FirstByteLimit($0, self, turn: turn)
        }
    }

    /// Whether a request over TLS cannot share its connection with others.
    private static func needsOwnConnection(_ request: SessionRequest, _ engine: any TransferCarrier) -> Bool {
        switch request.sharedOptions.value.maximumHTTPVersion {
        case .http1_0, .http1_1: true
        case .http2, .http3, nil: request.body != nil && !engine.sendsBodiesByHTTP2
        }
    }

    // MARK: What its carrier does with it

    /// libcurl carries it out by a handle from now on.
    func attach(_ easy: EasyHandle) {
        self.easy = easy
        easy.transfer = self
    }

    /// libcurl carries it out no longer.
    func detach() {
        easy?.transfer = nil
        easy = nil
    }

    /// Has its handshakes judged, where libcurl does not do that alone; before it begins.
    func judgeHandshakes(_ tls: TLSSettings, _ easy: EasyHandle) {
        let name = route?.isNamedByURL == true ? "localhost" : request.url.host() ?? ""
        evaluator = tls.begin(easy.raw, host: name, judge: judge)
    }

    /// A connection was opened for it.
    func opened(_ socket: Int32) { self.socket = socket }

    /// Its connection goes to another protocol, which sends the request.
    func handOver(to takeover: any ConnectionTakeover) { self.takeover = takeover }

    /// Its silence counts from an instant of the engine's clock.
    func recordActivity(at instant: Int64) { lastActivity = instant }

    /// Begins to count how long the server takes, where that is limited and it has the whole request.
    func awaitAnswer() { if body.isSent { firstByte?.begin() } else { firstByte?.end() } }

    /// The user resumes it: the time until now does not count.
    func awaitAnswerAgain() { if resends.hasSent, response == nil { awaitAnswer() } }

    /// Counts no more how long the server takes.
    func stopAwaiting() { firstByte?.end() }

    /// The head of the response, once it is complete.
    var response: SessionResponse? { _read { yield heads.response } }
    /// The pool of its connection, while libcurl carries it out.
    var pool: ConnectionPool? { pooling.pool }
    /// Whether it is counted among the running transfers of its origin.
    package var hasSlot: Bool { slot.isHeld }

    /// Whether it runs, is suspended or waits for its slot.
    package var isUnderWay: Bool { delegate != nil }

    /// Whether any of the request has been sent.
    ///
    /// Until libcurl begins with a handle, the handle has the count of the transfer before.
    var hasLeft: Bool { resends.hasSent && (easy.map { $0.long(CURLINFO_REQUEST_SIZE) > 0 } ?? true) }

    /// Whether libcurl has not come to send it, so that it can begin anew.
    var isUnsent: Bool { !resends.hasSent && response == nil }

    /// Opens the body, unless it has that of a transfer that did not come to send it.
    package func prepareBody() throws(SessionError) {
        guard let content = request.body else { return }
        if body.isUntouched, case .stream = content { return }
        var opened = try TransferBody(content)
        opened.isPaused = body.isPaused
        body = opened
    }

    /// Ends it: notifies the delegate once, and releases sink and body.
    func end(_ end: TransferEnd) {
        var end = end
        if end.error == nil, content.sink == nil, let response, !openSink(response) { end.error = failure }
        if end.error == nil, let tlsEnding = heads.tlsEnding, !tlsEnding.isNotified {
            let error = SessionError.missingCloseNotify(request.url.host() ?? "the server")
            end.error = error.with(failingURL: request.url, response: response)
        }
        if end.error == nil, response?.isRefusal != true, let shortage = content.shortage {
            end.error = shortage.with(failingURL: request.url, response: response)
        }
        let last = delegate
        abandon()
        last?.transferEnded(self, end)
    }

    /// Has the body of a transfer of the same request that ended before a byte of it was read.
    func adoptBody(of former: Transfer) { body = former.body.handOver() }

    /// Ends it without a call of the delegate.
    package func abandon() {
        delegate = nil
        if let takeover = takeover.take() { takeover.connectionEnds() }
        firstByte?.end()
        body.letGo()
        content.close()
    }

    // MARK: libcurl's callbacks

    /// Has the content go to a sink, decoded.
    func open(_ sink: any ContentSink, _ codings: [ContentCoding]) throws(SessionError) {
        try content.open(sink, codings, isBulk: isBulk)
    }

    func received(content bytes: UnsafeRawBufferPointer) -> Int {
        lastActivity = clock.now
        if content.sink == nil, let response, !openSink(response) { return 0 }
        guard let sink = content.sink, let delegate else { return 0 }
        if let turn = easy?.turn, turn.postpones(self, before: bytes.count) { return pauseContent() }
        if let pace, pace.holdsContent(self) { return pauseContent() }
        do throws(SessionError) {
            guard try sink.consume(bytes) == .consumed else { return pauseContent() }
            pace?.received(bytes.count)
            content.consumed(bytes.count)
            delegate.transferReceived(self)
            return bytes.count
        } catch {
            // The status of a refusal says what is wrong, and what was decoded is its message.
            guard error.code == .cannotDecodeRawData, response?.isRefusal == true, content.discardRest()
            else { return abort(error) }
            return bytes.count
        }
    }

    /// Has libcurl hand over the same bytes again when it is resumed.
    private func pauseContent() -> Int {
        content.isPaused = true
        return Int(CCURL_WRITE_PAUSE)
    }

    /// Fills libcurl's buffer with the next bytes of the body.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        lastActivity = clock.now
        guard let reader = body.reader, let delegate else { return Int(CCURL_READ_ABORT) }
        var buffer = buffer
        if let pace {
            if pace.holdsBody(self) {
                body.isPaused = true
                return Int(CCURL_READ_PAUSE)
            }
            buffer = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(pace.piece))
        }
        do throws(SessionError) {
            switch try reader.read(into: buffer) {
            case .bytes(let count):
                // A suspended transfer is not resumed when its source has bytes again.
                body.isPaused = false
                pace?.sent(count)
                body.recordSent(count)
                delegate.transferSent(self)
                if body.length != nil, body.hasGone { firstByte?.begin() }
                return count
            case .end:
                body.isPaused = false
                try body.recordEnd()
                if body.length == nil { firstByte?.begin() }
                return 0
            case .notYet:
                body.isPaused = true
                delegate.transferWaitsForBody(self, reader)
                return Int(CCURL_READ_PAUSE)
            }
        } catch {
            failure = failure ?? error
            return Int(CCURL_READ_ABORT)
        }
    }

    /// Whether libcurl may send the request; a second time with its body from the beginning.
    ///
    /// libcurl has the body rewound only where some of it was sent. What it had read and could not send is
    /// gone as well, and without a length the server would take the rest for the whole.
    package func willSend() -> Bool {
        if isAnswered(response), !mayAnswerAgain() { return false }
        guard maySend(), rewinds() else { return false }
        awaitAnswer()
        return true
    }

    /// Begins the body anew, as libcurl needs it when a kept connection turned out to be dead.
    func rewindBody() -> Bool { body.sent == 0 || maySend() && rewinds() }

    private func maySend() -> Bool {
        let error = resends.send(
            connections: easy?.long(CURLINFO_NUM_CONNECTS) ?? 0,
            isAlone: pooling.wasAlwaysAlone, progress)
        guard let error else { return true }
        failure = failure ?? error
        return false
    }

    /// How far it is, for the rules about sending it again.
    private var progress: Interruption {
        var progress = Interruption(isIdempotent: delegate?.transferMayRepeat(self) != false)
        progress.isWhollySent = body.isSent
        progress.hasHead = response != nil
        return progress
    }

    /// The error of a transfer that libcurl has finished; nil where the response is complete.
    func error(_ code: CURLcode, _ easy: EasyHandle, _ tls: TLSSettings) -> SessionError? {
        if let failure { return failure }
        let isComplete = code == CURLE_OK || hasSpentRounds && response != nil
        return error(isComplete || isAnsweredEarly(code) ? nil : easy.error(code, self, tls))
    }

    /// What a failure of the way means for it; nil for none, and where the response is complete.
    func error(_ error: SessionError?) -> SessionError? {
        if let failure { return failure }
        if let error {
            return resends.error(insteadOf: error, progress)?.with(failingURL: request.url) ?? error
        }
        guard response == nil, !isTrial, takeover == nil else { return nil }
        let halved = SessionError(
            .badServerResponse, "the connection ended before the header fields did",
            advice: "try again; if it happens always, the server is broken", failingURL: request.url)
        return resends.error(insteadOf: halved, progress) ?? halved
    }

    /// Nothing of it was sent after all: no connection came about.
    func stay() {
        resends = ResendGuard()
        if request.body?.isRewindable != false { body = TransferBody() }
    }

    private func rewinds() -> Bool {
        guard body.sent > 0 else { return true }
        do throws(SessionError) {
            try prepareBody()
            return true
        } catch {
            failure = failure ?? error
            return false
        }
    }

    /// Whether it waits for this program and not for the network.
    package var isWaiting: Bool { content.isPaused || body.isPaused }

    /// The body may continue: its source is asked again.
    package func resumeBody() { body.isPaused = false }

    /// Has it end with this error, whatever libcurl says of the end; 0 for libcurl, whose callback found it.
    func abort(_ error: SessionError) -> Int {
        failure = failure ?? error
        return 0
    }
}
