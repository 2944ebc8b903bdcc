// SPDX-License-Identifier: Apache-2.0

import SessionCore
import SessionManager
import Synchronization

/// What lies between a program's tasks and the loop: events that came, messages that are to leave, and those
/// who wait.
final class WebSocketChannel: Sendable {
    /// What a task waits for.
    enum Wait: Equatable {
        case event, opening, room, end
        case pong(UInt64)
    }

    fileprivate struct Waiter {
        let ticket: UInt64
        let kind: Wait
        let continuation: UnsafeContinuation<Void, Never>
    }

    struct State {
        fileprivate var events: [WebSocketEvent] = []
        fileprivate var firstEvent = 0
        /// Of the events that wait, in bytes.
        fileprivate var size = 0
        /// Whether reading goes on when there is room.
        fileprivate var isFull = false
        /// Messages on their way to the loop.
        var outgoing: [WebSocketMessage] = []
        /// All that was accepted and has not left, in bytes.
        var unsentBytes = 0
        /// The answer of the server that the connection is of; nil without one.
        var opening: SessionResponse?
        var negotiatedProtocol: String?
        var closing: WebSocketClosing?
        var isClosing = false
        var end: Result<Void, SessionError>?
        var task: SessionTask?
        fileprivate var pongs: [(number: UInt64, after: Int64)] = []
        fileprivate var waiters: [Waiter] = []
        fileprivate var tickets: UInt64 = 0
    }

    private let limits: (receive: Int, send: Int)
    private let state = Mutex(State())

    init(_ options: WebSocketOptions) {
        limits = (max(1, options.receiveBufferSize), max(1, options.sendBufferSize))
    }

    func read<Value: Sendable>(_ body: (borrowing State) -> Value) -> Value { state.withLock { body($0) } }

    // MARK: The program's side

    /// The next event; nil at the end.
    ///
    /// - Parameter resume: called where reading is to go on.
    func next(resume: () -> Void) async throws(SessionError) -> WebSocketEvent? {
        while true {
            let (event, resumes, end): (WebSocketEvent?, Bool, Result<Void, SessionError>?) = state.withLock {
                state in
                guard let event = state.claimEvent() else { return (nil, false, state.end) }
                let resumes = state.isFull && state.size <= limits.receive / 2
                if resumes { state.isFull = false }
                return (event, resumes, nil)
            }
            if resumes { resume() }
            if let event { return event }
            if let end {
                try end.get()
                return nil
            }
            try await wait(.event) { $0.hasEvents || $0.end != nil }
        }
    }

    /// Takes a message as soon as there is a connection, and room.
    ///
    /// - Returns: whether the loop has to be told.
    func accept(_ message: WebSocketMessage) async throws(SessionError) -> Bool {
        while true {
            let (isClosed, waiting): (Bool, Int) = state.withLock { state in
                guard state.end == nil, !state.isClosing else { return (true, 0) }
                guard state.opening != nil, state.unsentBytes < limits.send else { return (false, 0) }
                state.unsentBytes += message.byteCount
                state.outgoing.append(message)
                return (false, state.outgoing.count)
            }
            if isClosed { throw closedError }
            if waiting > 0 { return waiting == 1 }
            try await wait(.room) { [limits] in
                $0.end != nil || $0.isClosing || $0.opening != nil && $0.unsentBytes < limits.send
            }
        }
    }

    /// Why nothing can be sent any more.
    var closedError: SessionError {
        read { state in
            if case .failure(let error)? = state.end { return error }
            let words = state.closing.map { ": the other side has closed it with \($0.code)" } ?? ""
            return SessionError(.networkConnectionLost, "the WebSocket is closed\(words)")
        }
    }

    /// Waits for the connection.
    func opening() async throws(SessionError) -> SessionResponse {
        while true {
            let (opening, hasEnded) = read { ($0.opening, $0.end != nil) }
            if let opening { return opening }
            if hasEnded { throw closedError }
            try await wait(.opening) { $0.opening != nil || $0.end != nil }
        }
    }

    /// Waits for the answer to a ping, in nanoseconds.
    func pong(_ number: UInt64) async throws(SessionError) -> Int64 {
        let find: (borrowing State) -> Int64? = { state in
            state.pongs.first { $0.number >= number }.map { $0.after }
        }
        try await wait(.pong(number)) { find($0) != nil || $0.opening == nil || $0.end != nil }
        guard let after = read(find) else {
            throw SessionError(.networkConnectionLost, "the connection ended before the ping was answered")
        }
        return after
    }

    /// Waits until all is over.
    func waitForEnd() async {
        // A task that is cancelled does not wait.
        _ = try? await wait(.end) { $0.end != nil }
    }

    private func wait(
        _ kind: Wait, until isReady: @escaping (borrowing State) -> Bool
    ) async throws(SessionError) {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let waits = state.withLock { state in
                    // The handler has been called, or will find the entry.
                    guard !isReady(state), !Task.isCancelled else { return false }
                    state.waiters.append(Waiter(ticket: ticket, kind: kind, continuation: continuation))
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.ticket == ticket }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
        if Task.isCancelled { throw SessionError(.cancelled, "the task that waited was cancelled") }
    }

    // MARK: The loop's side

    /// Changes the state, and wakes those who wait for what has changed.
    func change(waking kinds: [Wait], _ body: (inout State) -> Void) {
        let woken: [Waiter] = state.withLock { state in
            body(&state)
            let isWoken: (Waiter) -> Bool = { waiter in
                kinds.contains { kind in
                    if case .pong(let number) = kind, case .pong(let awaited) = waiter.kind {
                        return awaited <= number
                    }
                    return kind == waiter.kind
                }
            }
            let woken = state.waiters.filter(isWoken)
            if !woken.isEmpty { state.waiters.removeAll(where: isWoken) }
            return woken
        }
        for waiter in woken { waiter.continuation.resume() }
    }

    /// Hands an event on; false where no more fits: reading stops until the program has taken some.
    ///
    /// - Parameter isDropped: whether one that does not fit is left out.
    func put(_ event: WebSocketEvent, orElseDrop isDropped: Bool = false) -> Bool {
        var hasRoom = true
        change(waking: [.event]) { state in
            if isDropped, state.size >= limits.receive { return }
            state.events.append(event)
            state.size += event.size
            hasRoom = state.size < limits.receive
            if !hasRoom { state.isFull = true }
        }
        return hasRoom
    }

    /// The messages that were accepted since the last call.
    func claimOutgoing() -> [WebSocketMessage] {
        state.withLock { state in
            var taken: [WebSocketMessage] = []
            swap(&taken, &state.outgoing)
            return taken
        }
    }

    /// Records that bytes have been sent.
    func sent(_ bytes: Int) {
        guard bytes > 0 else { return }
        change(waking: [.room]) { $0.unsentBytes -= bytes }
    }

    func answered(_ number: UInt64, after nanoseconds: Int64) {
        change(waking: [.pong(number)]) { state in
            state.pongs.append((number, nanoseconds))
            if state.pongs.count > 64 { state.pongs.removeFirst() }
        }
    }

    /// It is over, for all who wait.
    func end(_ result: Result<Void, SessionError>) {
        change(waking: [.event, .opening, .room, .end, .pong(.max)]) { state in
            state.end = state.end ?? result
            state.opening = nil
            state.task = nil
            state.outgoing = []
        }
    }
}

extension WebSocketChannel.State {
    fileprivate var hasEvents: Bool { firstEvent < events.count }

    fileprivate mutating func claimEvent() -> WebSocketEvent? {
        guard hasEvents else { return nil }
        let event = events[firstEvent]
        firstEvent += 1
        size -= event.size
        // Moves each event once at most.
        if firstEvent * 2 >= events.count {
            events.removeFirst(firstEvent)
            firstEvent = 0
        }
        return event
    }

    /// A connection is open.
    mutating func open(_ response: SessionResponse, _ name: String?) {
        opening = response
        negotiatedProtocol = name
        closing = nil
    }

    /// There is no connection; returns how many messages were accepted and are gone with it.
    mutating func lose(unsent: Int) -> Int {
        opening = nil
        unsentBytes = 0
        pongs = []
        defer { outgoing = [] }
        return unsent + outgoing.count
    }
}

extension WebSocketEvent {
    /// What it takes, roughly.
    fileprivate var size: Int {
        if case .message(let message) = self { message.byteCount + 64 } else { 64 }
    }
}
