// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import SessionCore

/// What a task wants instead of libcurl's exchanges: their connections.
protocol ConnectionUpgrade: AnyObject, Sendable {
    /// What takes over the connection of the next exchange; called on the loop's thread.
    func takeover(of transfer: Transfer, on engine: TransferEngine) -> any ConnectionTakeover
}

/// Sends a request over a connection that libcurl has made, and speaks another protocol there once the server
/// agrees; on the loop's thread, and never called inside libcurl.
protocol ConnectionTakeover: AnyObject {
    /// Whether ``connected(_:)`` was called.
    var hasConnection: Bool { get }
    /// The connection stands; nothing was sent over it.
    func connected(_ connection: TakenConnection)
    /// The server has answered with status 101; throws where it must not be believed.
    func accept(_ head: SessionResponse) throws(SessionError)
    /// The user stops the bytes, or lets them flow again.
    func setHeld(_ isHeld: Bool)
    /// The connection is about to be closed, or none comes; may be called again.
    func connectionEnds()
}

/// A connection that libcurl has made, with its proxy's tunnel and its TLS, and no longer looks at
/// (CURLOPT_CONNECT_ONLY(3)); on the loop's thread.
final class TakenConnection {
    enum Result {
        case bytes(Int)
        /// Nothing now: it has to be waited for.
        case notYet
        /// The other side has ended it.
        case end
        case failed(SessionError)
    }

    private let easy: EasyHandle
    private let reactor: Reactor
    private let socket: Int32
    private var watch: WatchID?
    private var interest = Interest.nothing
    /// Called when it is ready for what is waited for.
    var onReady: ((Readiness) -> Void)?

    init(_ easy: EasyHandle, _ sockets: CurlSockets, on reactor: Reactor) {
        self.easy = easy
        self.reactor = reactor
        socket = easy.activeSocket
        if socket >= 0 { sockets.release(socket) }
    }

    /// Reads what has come.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Result {
        guard let start = buffer.baseAddress else { return .notYet }
        var count = 0
        let code = ccurl_easy_recv(easy.raw, start, buffer.count, &count)
        return result(code, count, "the connection broke while it was read")
    }

    /// Sends bytes; after ``Result/notYet`` the same ones come again, from the same address.
    func write(_ bytes: UnsafeRawBufferPointer) -> Result {
        guard let start = bytes.baseAddress else { return .bytes(0) }
        var count = 0
        let code = ccurl_easy_send(easy.raw, start, bytes.count, &count)
        return result(code, count, "the connection broke while something was sent")
    }

    private func result(_ code: CURLcode, _ count: Int, _ sentence: String) -> Result {
        switch code {
        case CURLE_OK: return count > 0 ? .bytes(count) : .end
        case CURLE_AGAIN: return .notYet
        default:
            let failure = TransportFailure(
                curlCode: Int32(code.rawValue), message: easy.message(for: code),
                errno: Int32(easy.long(CURLINFO_OS_ERRNO)))
            return .failed(
                SessionError(
                    .networkConnectionLost, "\(sentence): \(failure.message)", advice: "try again",
                    transport: failure))
        }
    }

    /// Waits for what is named, from now on.
    func wait(for interest: Interest) {
        guard interest != self.interest else { return }
        self.interest = interest
        if let watch, reactor.change(watch, to: interest) { return }
        // Without a loop there is nothing that could come.
        watch = try? reactor.watch(socket, for: interest) { [weak self] in self?.onReady?($0) }
    }

    /// Ends the waiting: libcurl is about to close the socket.
    func release() {
        onReady = nil
        if let watch = watch.take() { reactor.unwatch(watch) }
    }
}
