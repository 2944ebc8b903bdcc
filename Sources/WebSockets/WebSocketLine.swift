// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore
import SessionManager

/// One connection of a WebSocket, from its handshake to its end: carries out what ``WebSocketStateMachine``
/// decides; on the loop's thread.
final class WebSocketLine {
    /// What one system call reads and writes at most: a record of TLS.
    private static let pieceSize = 16 << 10
    /// The most bytes that are read in one turn of the loop.
    private static let turnSize = 1 << 20

    private let reactor: Reactor
    private let channel: WebSocketChannel
    private weak var driver: WebSocketDriver?
    /// Nil after the end.
    private var exchange: UpgradedExchange?
    private var connection: TakenConnection?
    private let handshake: WebSocketHandshake
    private var head = UpgradeHead(limit: UpgradedExchange.headLimit)
    private var machine: WebSocketStateMachine
    private var decoder: WebSocketDecoder
    private var writer: WebSocketWriter
    private var output = OutputPiece()
    private lazy var timer = DeadlineTimer(on: reactor) { [unowned self] in
        perform(machine.timeCame(at: Reactor.now))
        flush()
    }
    /// Nothing is read: the program has not taken what came, or holds the queue.
    private var isFull = false
    private var isHeld = false
    private var mayWrite = true
    private var readsLater = false

    init(_ exchange: UpgradedExchange, _ driver: WebSocketDriver) {
        self.exchange = exchange
        reactor = exchange.reactor
        self.driver = driver
        channel = driver.channel
        let options = driver.options
        var random = SystemRandomNumberGenerator()
        handshake = WebSocketHandshake(
            nonce: (0..<16).map { _ in UInt8.random(in: 0 ... .max, using: &random) },
            protocols: driver.protocols)
        machine = WebSocketStateMachine(WebSocketStateMachine.Timing(options))
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
        _ = reactor.schedule(at: Reactor.now) { [weak self] in
            self?.readsLater = false
            self?.read()
        }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        guard let now = exchange?.bytesCame() else { return }
        var position = 0
        if machine.state == .connecting {
            position = receivedHead(bytes)
            guard machine.state == .open else { return }
        }
        machine.bytesCame(at: now)
        while connection != nil, let item = decoder.next(bytes, &position) {
            perform(machine.received(item, at: now))
        }
    }

    private func connectionLost(_ error: SessionError?) {
        guard machine.state == .connecting else { return perform(machine.connectionLost(error)) }
        // The content of a refusal may end with the connection.
        if exchange?.response != nil { return finish(nil) }
        finish(error ?? .endedBeforeAnswer)
    }

    // MARK: The handshake

    private func sendHead(_ exchange: UpgradedExchange, _ connection: TakenConnection) {
        let cookies = CookieJar(connection, for: exchange.request)?.line
        output.fill(handshake.head(of: exchange.request, cookies: cookies))
        flush()
        exchange.sent()
    }

    /// Reads on in the server's answer; returns where the frames begin.
    private func receivedHead(_ bytes: UnsafeRawBufferPointer) -> Int {
        var position = 0
        while let exchange, let connection, machine.state == .connecting, position < bytes.count {
            if exchange.response != nil {
                receivedContent(UnsafeRawBufferPointer(rebasing: bytes[position...]), exchange)
                return bytes.count
            }
            guard let lines = head.next(bytes, &position) else { break }
            CookieJar(connection, for: exchange.request)?.store(lines)
            guard exchange.received(head: lines) else {
                finish(exchange.failure)
                return bytes.count
            }
            if exchange.response != nil, machine.state == .connecting,
                head.contentLeft(of: exchange.announcedLength) == 0
            {
                finish(nil)
            }
        }
        if head.isBroken { finish(.brokenUpgradeHead) }
        return position
    }

    /// The content of an answer that opens nothing: it says why.
    private func receivedContent(_ bytes: UnsafeRawBufferPointer, _ exchange: UpgradedExchange) {
        let left = head.contentLeft(of: exchange.announcedLength)
        let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(left))
        guard exchange.received(content: part) else { return finish(exchange.failure) }
        head.contentCame(part.count)
        if part.count == left { finish(nil) }
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
        guard let exchange else { return }
        exchange.end(error)
    }
}

// MARK: What the engine reports

extension WebSocketLine: ConnectionTakeover {
    var hasConnection: Bool { connection != nil }

    func connected(_ connection: TakenConnection) {
        guard let exchange else { return }
        self.connection = connection
        connection.onReady = { [unowned self] in ready($0) }
        isHeld = exchange.isSuspended
        if let scheme = exchange.libraryScheme { return finish(.handshakeCannotCarry(scheme)) }
        sendHead(exchange, connection)
    }

    func accept(_ response: SessionResponse) throws(SessionError) {
        let name = try handshake.check(response)
        machine.opened(at: Reactor.now)
        exchange?.releaseSlot()
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
        exchange = nil
    }
}
