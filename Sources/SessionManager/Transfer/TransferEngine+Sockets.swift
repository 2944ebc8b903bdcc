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
        TransferEngine.of(user)?.setTimer(milliseconds)
        return 0
    }

    static let onSocket: ccurl_socket_function = { _, socket, what, user, _ in
        TransferEngine.of(user)?.watch(socket, Int(what))
        return 0
    }

    static let onOpen: ccurl_open_function = { user, _, address in
        let number = socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue),
            address.pointee.protocol)
        if number >= 0 { TransferEngine.of(user)?.sockets[number] = SocketState(isOurs: true) }
        return number
    }

    static let onClose: ccurl_close_function = { user, number in
        if let engine = TransferEngine.of(user) {
            if engine.sockets.removeValue(forKey: number)?.isWatched == true {
                engine.reactor.unwatch(number)
            }
        }
        return Glibc.close(number)
    }

    func setTimer(_ milliseconds: Int) {
        isDue = milliseconds == 0
        guard milliseconds > 0 else {
            if let timer { _ = reactor.cancel(timer) }
            timer = nil
            return
        }
        let deadline = clock.now &+ Int64(milliseconds) &* 1_000_000
        if let timer, reactor.reschedule(timer, at: deadline) { return }
        timer = reactor.schedule(at: deadline) { [unowned self] in
            timer = nil
            isDue = true
        }
    }

    func watch(_ socket: Int32, _ what: Int) {
        var state = sockets[socket] ?? SocketState(isOurs: false)
        guard what != CCURL_POLL_REMOVE else {
            if state.isOurs {
                // Parked, since it is often wanted again before the loop waits.
                reactor.change(socket, to: [])
            } else {
                // The resolver's: libcurl closes it without a word.
                sockets[socket] = nil
                reactor.unwatch(socket)
            }
            return
        }
        var interest: Interest = []
        if what & CCURL_POLL_IN != 0 { interest.insert(.readable) }
        if what & CCURL_POLL_OUT != 0 { interest.insert(.writable) }
        if state.isWatched { return reactor.change(socket, to: interest) }
        state.isWatched = true
        sockets[socket] = state
        do throws(ReactorError) {
            try reactor.watch(socket, for: interest) { [unowned self] readiness in
                var events = 0
                if readiness.contains(.readable) || readiness.contains(.hangUp) { events |= CCURL_SELECT_IN }
                if readiness.contains(.writable) { events |= CCURL_SELECT_OUT }
                if readiness.contains(.error) || readiness.contains(.refused) { events |= CCURL_SELECT_ERR }
                action(socket, Int32(events))
            }
        } catch {
            // The loop has ended, and with it every transfer.
        }
    }
}

/// What is known about one of libcurl's descriptors.
struct SocketState {
    /// Opened by `onOpen`, so closed by `onClose`.
    var isOurs: Bool
    var isWatched = false
}
