// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import Glibc

// Descriptors and the timer, as libcurl wants them.
extension TransferEngine {
    static func of(_ user: UnsafeMutableRawPointer?) -> TransferEngine? {
        user.map { Unmanaged<TransferEngine>.fromOpaque($0).takeUnretainedValue() }
    }

    static let onTimer: ccurl_timer_function = { _, milliseconds, user in
        ConnectionPool.with(user) { $0.engine.setTimer(of: $0, milliseconds) }
        return 0
    }

    static let onSocket: ccurl_socket_function = { _, socket, what, user, _ in
        ConnectionPool.with(user) { $0.engine.watch(socket, Int(what), for: $0) }
        return 0
    }

    static let onOpen: ccurl_open_function = { user, _, address in
        let number = socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue),
            address.pointee.protocol)
        guard number >= 0, let user else { return number }
        let easy = Unmanaged<EasyHandle>.fromOpaque(user).takeUnretainedValue()
        easy.engine.sockets[number] = SocketState(isOurs: true)
        if var size = easy.transfer?.options.maximumSegmentSize.map({ Int32(clamping: $0) }) {
            setsockopt(
                number, Int32(IPPROTO_TCP), TCP_MAXSEG, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        if let point = easy.transfer?.options.networkServiceType.codePoint {
            mark(number, address.pointee.family, point)
        }
        // Nothing that the network does concerns a connection within this machine.
        if let transfer = easy.transfer, let peer = PeerAddress(address), !peer.address.isLoopback {
            easy.engine.opened(number, to: peer, for: transfer)
        }
        return number
    }

    /// Has the packets of a connection say what they are for (IP_TOS, ip(7); IPV6_TCLASS, RFC 3542 §6.5).
    ///
    /// Where that is refused they say nothing, which harms nobody.
    private static func mark(_ socket: Int32, _ family: Int32, _ codePoint: Int32) {
        // The lower two bits are the congestion control's (RFC 3168 §5).
        var value = codePoint << 2
        let (level, option) =
            family == AF_INET6 ? (Int32(IPPROTO_IPV6), IPV6_TCLASS) : (Int32(IPPROTO_IP), IP_TOS)
        setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    static let onClose: ccurl_close_function = { user, number in
        if let engine = TransferEngine.of(user) {
            if let watch = engine.sockets.remove(number)?.watch { engine.reactor.unwatch(watch) }
            engine.watch?.closed(number)
        }
        return Glibc.close(number)
    }

    func setTimer(of pool: ConnectionPool, _ milliseconds: Int) {
        pool.isDue = milliseconds == 0
        if pool.isDue { isDue = true }
        pool.deadline = milliseconds > 0 ? clock.now &+ Int64(milliseconds) &* 1_000_000 : .max
        arm(pool)
    }

    /// Sets a pool's timer, unless it is early enough: moving it with each request would cost more than a turn in vain now and then.
    private func arm(_ pool: ConnectionPool) {
        let deadline = pool.deadline
        guard deadline < .max, pool.timer == nil || deadline < pool.timerDeadline else { return }
        pool.timerDeadline = deadline
        if let timer = pool.timer, reactor.reschedule(timer, at: deadline) { return }
        pool.timer = reactor.schedule(at: deadline) { [unowned self, unowned pool] in
            pool.timer = nil
            guard pool.deadline <= Reactor.now else { return arm(pool) }
            pool.deadline = .max
            pool.isDue = true
            isDue = true
        }
    }

    func watch(_ socket: Int32, _ what: Int, for pool: ConnectionPool) {
        guard what != CCURL_POLL_REMOVE else {
            // libcurl closes some sockets without calling `onClose`: those that were never connected (cf-socket.c), and its resolver's.
            // The number may be another pool's or another engine's by now, and must not lose its watch to a belated word.
            guard let state = sockets[socket], state.user == ObjectIdentifier(pool), let watch = state.watch
            else { return }
            if state.isOurs {
                // Parked, since it is often wanted again before the loop waits.
                _ = reactor.change(watch, to: .nothing)
            } else {
                sockets[socket] = nil
                reactor.unwatch(watch)
            }
            return
        }
        var state = sockets[socket] ?? SocketState(isOurs: false)
        if let user = state.user, user != ObjectIdentifier(pool) { state = SocketState(isOurs: false) }
        let interest = Interest(
            rawValue: (what & CCURL_POLL_IN != 0 ? Interest.readable.rawValue : 0)
                | (what & CCURL_POLL_OUT != 0 ? Interest.writable.rawValue : 0))
        if let watch = state.watch, reactor.change(watch, to: interest) { return }
        state.user = ObjectIdentifier(pool)
        do throws(ReactorError) {
            state.watch = try reactor.watch(socket, for: interest) { [unowned self, unowned pool] readiness in
                var events = 0
                if readiness.contains(.readable) || readiness.contains(.hangUp) { events |= CCURL_SELECT_IN }
                if readiness.contains(.writable) { events |= CCURL_SELECT_OUT }
                if readiness.contains(.error) || readiness.contains(.refused) { events |= CCURL_SELECT_ERR }
                action(pool, socket, Int32(events))
            }
        } catch {
            // The loop has ended, and with it every transfer.
        }
        sockets[socket] = state
    }
}

/// What is known about one of libcurl's descriptors.
struct SocketState {
    /// Opened by `onOpen`, so closed by `onClose`.
    var isOurs: Bool
    /// Its watch; one that has ended meanwhile is none.
    var watch: WatchID?
    /// The pool whose libcurl waits for it.
    var user: ObjectIdentifier?
    /// The transfer it was opened for, and the pool it belongs to; noted for connections to other machines.
    var opener: ObjectIdentifier?
    var pool: ConnectionPool?
}
