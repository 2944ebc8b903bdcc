// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import Glibc
import ReachabilityCore
import SessionCore

/// Called when libcurl opens and closes connections to other machines.
protocol ConnectionObserver: AnyObject {
    /// A connection is about to be made for a transfer.
    func opened(_ descriptor: Int32, to peer: PeerAddress, for transfer: Transfer)
    /// A socket was closed, of a connection or another one.
    func closed(_ descriptor: Int32)
}

/// The descriptors of libcurl: opened, watched on the loop, and closed; on the loop's thread.
final class CurlSockets {
    private struct State {
        /// Opened by `onOpen`, so closed by `onClose`.
        var isOurs: Bool
        /// One that has ended meanwhile counts as none.
        var watch: WatchID?
        /// The multi handle that waits for it.
        var user: ObjectIdentifier?
        /// The transfer it was opened for, and the pool it belongs to; recorded for connections to other
        /// machines.
        var opener: ObjectIdentifier?
        var pool: ConnectionPool?
    }

    private let reactor: Reactor
    private var states = DescriptorTable<State>()
    /// The engine's; not counted, since it ends with the engine as this object does.
    weak var observer: (any ConnectionObserver)?

    init(reactor: Reactor) { self.reactor = reactor }

    /// The pool of a connection to another machine.
    func pool(of descriptor: Int32) -> ConnectionPool? { states[descriptor]?.pool }

    /// Whether the last connection that was opened for a transfer still exists, and is its own.
    func holdsConnection(of transfer: Transfer) -> Bool {
        states[transfer.socket]?.opener == ObjectIdentifier(transfer)
    }

    /// Has the loop call `multi` when a socket is ready, as libcurl wants (CURLMOPT_SOCKETFUNCTION(3)).
    func watch(_ socket: Int32, _ what: Int, for multi: CurlMulti) {
        let user = ObjectIdentifier(multi)
        guard what != CCURL_POLL_REMOVE else { return unwatch(socket, for: user) }
        var state = states[socket] ?? State(isOurs: false)
        if let former = state.user, former != user { state = State(isOurs: false) }
        let interest = Interest(
            rawValue: (what & CCURL_POLL_IN != 0 ? Interest.readable.rawValue : 0)
                | (what & CCURL_POLL_OUT != 0 ? Interest.writable.rawValue : 0))
        if let watch = state.watch, reactor.change(watch, to: interest) { return }
        state.user = user
        do throws(ReactorError) {
            state.watch = try reactor.watch(socket, for: interest) { [unowned multi] readiness in
                var events = 0
                if readiness.contains(.readable) || readiness.contains(.hangUp) { events |= CCURL_SELECT_IN }
                if readiness.contains(.writable) { events |= CCURL_SELECT_OUT }
                if readiness.contains(.error) || readiness.contains(.refused) { events |= CCURL_SELECT_ERR }
                multi.act(socket, Int32(events))
            }
        } catch {
            // The loop has ended, and with it every transfer.
        }
        states[socket] = state
    }

    private func unwatch(_ socket: Int32, for user: ObjectIdentifier) {
        // libcurl closes some sockets without calling `onClose`: those that were never connected
        // (cf-socket.c), and its resolver's. The number may belong to another multi handle by now, which must
        // not lose its watch to a late call.
        guard let state = states[socket], state.user == user, let watch = state.watch else { return }
        if state.isOurs {
            // Parked, since it is often wanted again before the loop waits.
            _ = reactor.change(watch, to: .nothing)
        } else {
            states[socket] = nil
            reactor.unwatch(watch)
        }
    }

    /// Leaves the watching of a connection to another object.
    func release(_ descriptor: Int32) {
        guard let watch = states[descriptor]?.watch else { return }
        reactor.unwatch(watch)
        states[descriptor]?.watch = nil
        states[descriptor]?.user = nil
    }

    /// Ends all watches.
    func close() {
        states.forEach { state in if let watch = state.watch { reactor.unwatch(watch) } }
        states = DescriptorTable()
    }

    // MARK: libcurl's callbacks

    static let onOpen: ccurl_open_function = { user, _, address in
        let number = socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue),
            address.pointee.protocol)
        guard let user else { return number }
        let easy = Unmanaged<EasyHandle>.fromOpaque(user).takeUnretainedValue()
        guard number >= 0 else {
            // Families that the kernel lacks are left to libcurl, which has other addresses.
            if errno == EMFILE || errno == ENFILE { easy.socketFailure = errno }
            return number
        }
        easy.sockets.opened(number, address, for: easy.transfer)
        return number
    }

    static let onClose: ccurl_close_function = { user, number in
        if let user { Unmanaged<CurlSockets>.fromOpaque(user).takeUnretainedValue().closed(number) }
        return Glibc.close(number)
    }

    private func opened(
        _ number: Int32, _ address: UnsafeMutablePointer<curl_sockaddr>, for transfer: Transfer?
    ) {
        states[number] = State(isOurs: true)
        guard let transfer else { return }
        if var size = transfer.options.maximumSegmentSize.map({ Int32(clamping: $0) }) {
            setsockopt(
                number, Int32(IPPROTO_TCP), TCP_MAXSEG, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        if let point = transfer.options.networkServiceType.codePoint {
            Self.mark(number, address.pointee.family, point)
        }
        // Changes of the network do not concern connections within this machine.
        guard let peer = PeerAddress(address), !peer.address.isLoopback else { return }
        states[number]?.opener = ObjectIdentifier(transfer)
        states[number]?.pool = transfer.pool
        transfer.opened(number)
        // A socket of QUIC has no acknowledgements of TCP to look at.
        guard address.pointee.socktype == Int32(SOCK_STREAM.rawValue) else { return }
        observer?.opened(number, to: peer, for: transfer)
    }

    private func closed(_ number: Int32) {
        if let watch = states.remove(number)?.watch { reactor.unwatch(watch) }
        observer?.closed(number)
    }

    /// Marks the packets of a connection with its purpose (IP_TOS, ip(7); IPV6_TCLASS, RFC 3542 §6.5); where
    /// that is refused they stay unmarked.
    private static func mark(_ socket: Int32, _ family: Int32, _ codePoint: Int32) {
        // The lower two bits are the congestion control's (RFC 3168 §5).
        var value = codePoint << 2
        let (level, option) =
            family == AF_INET6 ? (Int32(IPPROTO_IPV6), IPV6_TCLASS) : (Int32(IPPROTO_IP), IP_TOS)
        setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

/// Values by descriptor.
///
/// An array: the kernel gives the lowest free number, so it is as long as files are open, and libcurl asks
/// twice for each request.
private struct DescriptorTable<Value> {
    private var slots: ContiguousArray<Value?> = []

    subscript(descriptor: Int32) -> Value? {
        get {
            let index = Int(descriptor)
            return slots.indices.contains(index) ? slots[index] : nil
        }
        set {
            guard descriptor >= 0 else { return }
            while slots.count <= Int(descriptor) { slots.append(nil) }
            slots[Int(descriptor)] = newValue
        }
    }

    mutating func remove(_ descriptor: Int32) -> Value? {
        guard slots.indices.contains(Int(descriptor)) else { return nil }
        return slots[Int(descriptor)].take()
    }

    func forEach(_ body: (Value) -> Void) {
        for case let value? in slots { body(value) }
    }
}
