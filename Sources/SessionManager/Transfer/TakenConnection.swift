// SPDX-License-Identifier: Apache-2.0

import CCurl
package import EventLoop
package import SessionCore

/// A connection that libcurl has made, with its proxy's tunnel and its TLS, and no longer looks at
/// (CURLOPT_CONNECT_ONLY(3)); on the loop's thread.
package final class TakenConnection {
    package enum Result {
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
    package var onReady: ((Readiness) -> Void)?

    init(_ easy: EasyHandle, _ sockets: CurlSockets, on reactor: Reactor) {
        self.easy = easy
        self.reactor = reactor
        socket = easy.activeSocket
        if socket >= 0 { sockets.release(socket) }
    }

    /// Reads what has come.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Result {
        guard let start = buffer.baseAddress else { return .notYet }
        var count = 0
        let code = ccurl_easy_recv(easy.raw, start, buffer.count, &count)
        return result(code, count, "the connection broke while it was read")
    }

    /// Sends bytes; after ``Result/notYet`` the same ones come again, from the same address.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Result {
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
    package func wait(for interest: Interest) {
        guard interest != self.interest else { return }
        self.interest = interest
        if let watch, reactor.change(watch, to: interest) { return }
        // Without a loop there is nothing that could come.
        watch = try? reactor.watch(socket, for: interest) { [weak self] in self?.onReady?($0) }
    }

    /// The cookies of the session, each a line of libcurl's jar (CURLOPT_COOKIELIST(3)).
    package var cookieLines: [String] {
        var list: UnsafeMutablePointer<curl_slist>?
        guard ccurl_get_list(easy.raw, CURLINFO_COOKIELIST, &list) == CURLE_OK, let first = list else {
            return []
        }
        defer { ccurl_list_free(first) }
        var lines: [String] = []
        var next: UnsafeMutablePointer<curl_slist>? = first
        while let item = next {
            if let text = item.pointee.data { lines.append(String(cString: text)) }
            next = item.pointee.next
        }
        return lines
    }

    /// Puts a cookie into the session's jar.
    package func store(cookieLine: String) { easy.set(CURLOPT_COOKIELIST, cookieLine) }

    /// Ends the waiting: libcurl is about to close the socket.
    package func release() {
        onReady = nil
        if let watch = watch.take() { reactor.unwatch(watch) }
    }
}
