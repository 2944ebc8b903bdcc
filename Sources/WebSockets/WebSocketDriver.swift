// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore
import SessionManager

/// Makes the connections of a WebSocket, one after the other, as ``WebSocketReconnectStateMachine`` decides;
/// on the loop's thread.
///
/// Each connection is a task of the manager, which waits, is redirected and answers challenges as all are; it
/// ends with the connection.
final class WebSocketDriver {
    let options: WebSocketOptions
    let protocols: [String]
    let channel: WebSocketChannel
    private let manager: URLSessionManager
    private let request: SessionRequest
    private let taskOptions: TaskOptions?
    private let reactor: Reactor
    private var machine: WebSocketReconnectStateMachine
    private var task: SessionTask?
    /// The connection of the task under way.
    private var line: WebSocketLine?
    /// How the last connection ended, where it says so itself.
    private var lastEnd: WebSocketEnd?
    private var wasOpen = false
    private var hasBeenOpen = false
    private var timer: TimerID?
    private var isCancelled = false
    private var hasEnded = false
    /// The program has closed it, perhaps before there was a connection.
    private var isClosing = false

    init(
        _ manager: URLSessionManager, _ request: SessionRequest, protocols: [String],
        _ options: WebSocketOptions,
        _ taskOptions: TaskOptions?, _ channel: WebSocketChannel, on reactor: Reactor
    ) {
        self.manager = manager
        self.request = request
        self.protocols = protocols
        self.options = options
        self.taskOptions = taskOptions
        self.channel = channel
        self.reactor = reactor
        machine = WebSocketReconnectStateMachine(options.reconnects)
    }

    // MARK: Connecting

    /// Makes the next connection, by a task that was made before where there is one.
    func connect(by first: SessionTask? = nil) {
        guard !hasEnded else {
            first?.cancel()
            return
        }
        do throws(SessionError) {
            let next: SessionTask
            if let first {
                next = first
            } else {
                let upgrade = WebSocketUpgrade(LoopBound(self, to: reactor))
                next = try manager.task(request, taskOptions, upgradedBy: upgrade)
            }
            task = next
            channel.change(waking: []) { $0.task = next }
            let me = LoopBound(self, to: reactor)
            next.whenEnded { outcome in me.perform { $0.taskEnded(next, outcome) } }
            next.resume()
        } catch {
            end(.failure(error))
        }
    }

    /// The next exchange of the task begins.
    func makeLine(_ exchange: UpgradedExchange) -> WebSocketLine {
        let new = WebSocketLine(exchange, self)
        line = new
        return new
    }

    // MARK: What the connection reports

    /// The server has agreed.
    func opened(_ response: SessionResponse, _ name: String?) {
        machine.opened(at: Reactor.now)
        channel.change(waking: [.opening, .room]) { $0.open(response, name) }
        _ = channel.put(hasBeenOpen ? .reconnected(response) : .opened(response))
        wasOpen = true
        hasBeenOpen = true
    }

    /// The connection is over, and the task ends with it.
    func lineEnded(_ end: WebSocketEnd) { lastEnd = end }

    private func taskEnded(_ ended: SessionTask, _ outcome: TaskOutcome) {
        guard ended === task, !hasEnded else { return }
        task = nil
        let unsent = line?.unsentMessages ?? 0
        line = nil
        let (end, wasOpen) = (lastEnd.take(), self.wasOpen)
        self.wasOpen = false
        let error = error(of: outcome, end)
        if isCancelled || isClosing || outcome.error?.code == .cancelled {
            return self.end(
                isClosing && !isCancelled ? .success(()) : .failure(error ?? cancelledError))
        }
        guard let error else { return self.end(.success(())) }
        let cause: WebSocketReconnectStateMachine.Cause =
            if let end { .ended(end) } else if wasOpen { .pathLost } else {
                .failed(error.code, status: outcome.response?.statusCode)
            }
        var lost = 0
        channel.change(waking: [.pong(.max)]) { lost = $0.lose(unsent: unsent) }
        let isPatient = error.code != .notConnectedToInternet || waitsForNetwork
        switch machine.ended(cause, at: Reactor.now, chance: .random(in: 0 ... .max)) {
        case .connect(let delay) where isPatient:
            if wasOpen { _ = channel.put(.interrupted(error, unsent: lost)) }
            timer = reactor.schedule(at: Reactor.now &+ delay) { [weak self] in
                self?.timer = nil
                self?.connect()
            }
        case .connect, .finish: self.end(.failure(error))
        }
    }

    /// Whether the network may take as long as it wants: after a limit of its own a task says that there is
    /// none.
    private var waitsForNetwork: Bool {
        let isPatient = taskOptions.map { $0.waitsForNetwork && $0.offlineLimit == nil } ?? true
        return isPatient && manager.queue.offlineLimit == nil
    }

    /// What the end of a connection means for the program; nil for a normal end.
    private func error(of outcome: TaskOutcome, _ end: WebSocketEnd?) -> SessionError? {
        if let error = outcome.error { return error }
        guard let response = outcome.response, response.statusCode == 101 else {
            return outcome.response.map { WebSocketHandshake.refusal($0, data: outcome.data) }
        }
        guard case .closed(let closing)? = end else { return nil }
        channel.change(waking: []) { $0.closing = closing }
        switch closing.code {
        case .normal, .goingAway, .noStatus:
            // A server that goes away may be back: only who asks for that gets an error to decide by.
            return closing.code == .goingAway && options.reconnects != .never ? closing.error(request) : nil
        default: return closing.error(request)
        }
    }

    private func end(_ result: Result<Void, SessionError>) {
        guard !hasEnded else { return }
        hasEnded = true
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        task = nil
        line = nil
        channel.end(result)
    }

    // MARK: What the program asks for

    func sendOutgoing() { line?.sendOutgoing() }
    func readOn() { line?.readOn() }
    /// The number of the ping; nil without a connection.
    func ping() -> UInt64? { line?.ping() }

    func close(_ closing: WebSocketClosing) {
        guard !hasEnded else { return }
        isClosing = true
        if wasOpen, let line { return line.close(closing) }
        task?.cancel()
        if task == nil { end(.success(())) }
    }

    func cancel() {
        guard !hasEnded else { return }
        isCancelled = true
        guard let task else {
            return end(.failure(cancelledError))
        }
        task.cancel()
    }

    private var cancelledError: SessionError {
        SessionError(.cancelled, "the WebSocket was cancelled", failingURL: request.url)
    }
}

extension WebSocketClosing {
    /// What the other side's end is to a program that did not ask for it.
    fileprivate func error(_ request: SessionRequest) -> SessionError {
        SessionError(
            .networkConnectionLost,
            "the server has closed the WebSocket: \(code)\(reason.isEmpty ? "" : ", \(TextQuote(reason))")",
            failingURL: request.url)
    }
}

/// Connects a task with the WebSocket that it is for.
final class WebSocketUpgrade: ConnectionUpgrade {
    private let driver: LoopBound<WebSocketDriver>

    init(_ driver: LoopBound<WebSocketDriver>) { self.driver = driver }

    func takeover(of exchange: UpgradedExchange) -> any ConnectionTakeover {
        driver.here { $0.makeLine(exchange) }
    }
}
