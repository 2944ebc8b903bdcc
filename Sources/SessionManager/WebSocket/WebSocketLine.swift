// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore

/// One connection of a WebSocket, from its handshake to its end: carries out what ``WebSocketStateMachine``
/// decides; on the loop's thread.
final class WebSocketLine {
    /// What one system call reads and writes at most: a record of TLS.
    private static let pieceSize = 16 << 10
    /// So much is read before others have their turn.
    private static let turnSize = 1 << 20

    private let engine: TransferEngine
    private let channel: WebSocketChannel
    private weak var driver: WebSocketDriver?
    /// Nil after the end.
    private var transfer: Transfer?
    private var connection: TakenConnection?
    private let handshake: WebSocketHandshake
    private var head = UpgradeHead()
    private var machine: WebSocketStateMachine
    private var decoder: WebSocketDecoder
    private var writer: WebSocketWriter
    private var output = OutputPiece()
    private lazy var timer = DeadlineTimer(on: engine.reactor) { [unowned self] in
        perform(machine.timeCame(at: Reactor.now))
        flush()
    }
    /// Nothing is read: the program has not taken what came, or holds the queue.
    private var isFull = false
    private var isHeld = false
    private var mayWrite = true
    private var readsLater = false

    init(_ transfer: Transfer, _ engine: TransferEngine, _ driver: WebSocketDriver) {
        self.transfer = transfer
        self.engine = engine
        self.driver = driver
        channel = driver.channel
        let options = driver.options
        var random = SystemRandomNumberGenerator()
        handshake = WebSocketHandshake(
            nonce: (0..<16).map { _ in UInt8.random(in: 0 ... .max, using: &random) },
            protocols: driver.protocols)
        machine = WebSocketStateMachine(
            WebSocketStateMachine.Timing(
                keepAlive: options.keepAlive.map { max(1_000_000, $0.nanoseconds) },
                pongLimit: options.pongTimeout.nanoseconds, closeLimit: options.closeTimeout.nanoseconds))
        decoder = WebSocketDecoder(maximumMessageSize: options.maximumMessageSize)
        writer = WebSocketWriter(fragmentSize: options.fragmentSize)
    }

    /// Messages that have not wholly left.
    var unsentMessages: Int { writer.waitingMessages }

    // MARK: What the program asks for

    func sendOutgoing() {
        guard machine.state == .open || machine.state == .closing else { return }
        for message in channel.claimOutgoing() { writer.send(message) }
        flush()
    }

    func close(_ closing: WebSocketClosing) {
        for message in channel.claimOutgoing() { writer.send(message) }
        perform(machine.closeRequested(closing, at: Reactor.now))
        // The other side's answer lies behind what was not read.
        readOn()
        flush()
    }

    func ping() -> UInt64? {
        guard let number = machine.pingRequested(at: Reactor.now) else { return nil }
        writer.ping(number.bytes)
        flush()
        return number
    }

    /// The program has taken what came.
    func readOn() {
        guard isFull else { return }
        isFull = false
        holdChanged()
        read()
    }

    private func holdChanged() {
        machine.setHeld(isFull || isHeld, at: Reactor.now)
        updateWaiting()
    }

    private var reads: Bool { !isFull && !isHeld }

    private func updateWaiting() {
        var interest = reads ? Interest.readable : .nothing
        if !mayWrite, !isHeld { interest.insert(.writable) }
        connection?.wait(for: interest)
        timer.set(machine.nextDeadline ?? .max)
    }

    // MARK: Reading

    private func ready(_ readiness: Readiness) {
        if readiness.contains(.writable) {
            mayWrite = true
            flush()
        }
        // What is wrong is for the next call to say; a parked watch reports nothing.
        if !readiness.isDisjoint(with: [.readable, .hangUp, .error, .refused]) { read() }
    }

    private func read() {
        var count = 0
        while reads, let connection {
            guard count < Self.turnSize else { return readLater() }
            let isOver = withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 8) { buffer in
                switch connection.read(into: buffer) {
                case .bytes(let length):
                    count += length
                    received(UnsafeRawBufferPointer(rebasing: buffer[..<length]))
                    return false
                case .notYet: return true
                case .end: connectionLost(nil)
                case .failed(let error): connectionLost(error)
                }
                return true
            }
            if isOver { break }
        }
        flush()
    }

    /// Bytes may lie in TLS, of which the kernel reports nothing.
    private func readLater() {
        flush()
        guard !readsLater else { return }
        readsLater = true
        _ = engine.reactor.schedule(at: Reactor.now) { [weak self] in
            self?.readsLater = false
            self?.read()
        }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        engine.clock.update()
        transfer?.lastActivity = engine.clock.now
        var position = 0
        if machine.state == .connecting {
            position = receivedHead(bytes)
            guard machine.state == .open else { return }
        }
        machine.bytesCame(at: engine.clock.now)
        while connection != nil, let item = decoder.next(bytes, &position) {
            perform(machine.received(item, at: engine.clock.now))
        }
    }

    private func connectionLost(_ error: SessionError?) {
        guard machine.state == .connecting else { return perform(machine.connectionLost(error)) }
        guard let transfer else { return }
        // The content of a refusal may end with the connection.
        if transfer.response != nil { return finish(nil) }
        finish(
            error
                ?? SessionError(
                    .networkConnectionLost,
                    "the server ended the connection before it answered the handshake",
                    advice: "try again; if it happens always, the server is broken"))
    }

    // MARK: The handshake

    private func sendHead(_ transfer: Transfer) {
        let cookies = transfer.options.handlesCookies ? CookieJar(transfer)?.line : nil
        output.fill(handshake.head(of: transfer.request, cookies: cookies))
        flush()
        transfer.awaitAnswer()
    }

    /// Reads on in the server's answer; returns where the frames begin.
    private func receivedHead(_ bytes: UnsafeRawBufferPointer) -> Int {
        var position = 0
        while let transfer, machine.state == .connecting, position < bytes.count {
            if transfer.response != nil {
                receivedContent(UnsafeRawBufferPointer(rebasing: bytes[position...]), transfer)
                return bytes.count
            }
            guard let lines = head.next(bytes, &position) else { break }
            if transfer.options.handlesCookies { CookieJar(transfer)?.store(lines) }
            guard lines.withUnsafeBytes({ transfer.received(head: $0) }) else {
                finish(transfer.failure)
                return bytes.count
            }
            if transfer.response != nil, machine.state == .connecting, head.contentLeft(transfer) == 0 {
                finish(nil)
            }
        }
        if head.isBroken { finish(Self.brokenHead) }
        return position
    }

    /// The content of an answer that opens nothing: it says why.
    private func receivedContent(_ bytes: UnsafeRawBufferPointer, _ transfer: Transfer) {
        let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(head.contentLeft(transfer)))
        guard transfer.received(content: part) == part.count else { return finish(transfer.failure) }
        head.contentCame(part.count)
        if head.contentLeft(transfer) == 0 { finish(nil) }
    }

    private static var brokenHead: SessionError {
        SessionError(
            .badServerResponse, "the server sends more than 256 KiB of header fields, or none of HTTP",
            advice: "the server, or a proxy before it, is broken or hostile")
    }

    // MARK: Writing

    private func flush() {
        while let connection, mayWrite, !isHeld {
            if output.isEmpty {
                guard !writer.isEmpty else { break }
                let before = writer.waitingBytes
                output.fill(upTo: Self.pieceSize) { writer.fill($0) { UInt32.random(in: 0 ... .max) } }
                channel.sent(before - writer.waitingBytes)
            }
            switch output.write(to: connection) {
            case .bytes: if output.isEmpty, writer.hasClosed { perform(machine.closeSent()) }
            case .notYet: mayWrite = false
            case .end: mayWrite = false
            case .failed(let error):
                mayWrite = false
                // What has come before is read first: a close frame may say why.
                if !reads { connectionLost(error) }
            }
        }
        if output.isEmpty { output.release() }
        if connection != nil { updateWaiting() }
    }

    // MARK: Actions

    private func perform(_ action: WebSocketStateMachine.Action) {
        switch action {
        case .nothing: break
        case .deliver(let message):
            // Behind the program's own close frame nothing may hold up the other side's.
            let isClosing = machine.state == .closing
            guard !channel.put(.message(message), orElseDrop: isClosing), !isClosing else { break }
            isFull = true
            holdChanged()
        case .answerPing(let content): writer.answerPing(content)
        case .ping(let number): writer.ping(number.bytes)
        case .answered(let number, let nanoseconds): channel.answered(number, after: nanoseconds)
        case .close(let closing, let isUrgent): writer.close(closing, isUrgent: isUrgent)
        case .end(let end):
            driver?.lineEnded(end)
            finish(end.error)
        }
    }

    /// Ends the exchange, and with it the task.
    private func finish(_ error: SessionError?) {
        guard let transfer else { return }
        engine.end(transfer, error?.with(failingURL: transfer.request.url, response: transfer.response))
    }
}

// MARK: What the engine reports

extension WebSocketLine: ConnectionTakeover {
    var hasConnection: Bool { connection != nil }

    func connected(_ connection: TakenConnection) {
        guard let transfer else { return }
        self.connection = connection
        connection.onReady = { [unowned self] in ready($0) }
        isHeld = transfer.isSuspended
        if let credentials = transfer.credentials, !credentials.isProxy {
            return finish(
                SessionError(
                    .userAuthenticationRequired,
                    "the server wants \(credentials.scheme), which the handshake of a WebSocket cannot carry",
                    advice: "have the server take Basic over TLS, or a token in Authorization"))
        }
        sendHead(transfer)
    }

    func accept(_ response: SessionResponse) throws(SessionError) {
        let name = try handshake.check(response)
        machine.opened(at: engine.clock.now)
        if let transfer { engine.releaseSlot(of: transfer) }
        driver?.opened(response, name)
    }

    func setHeld(_ isHeld: Bool) {
        self.isHeld = isHeld
        holdChanged()
        if !isHeld { read() }
    }

    func connectionEnds() {
        timer.cancel()
        connection?.release()
        connection = nil
        transfer = nil
    }
}
