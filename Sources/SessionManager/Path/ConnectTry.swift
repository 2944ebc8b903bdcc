// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Reachability

/// One SYN to a server over an interface, to see whether anything answers; on the loop's thread.
///
/// The connection is reset as soon as it is made, without another byte.
final class ConnectTry {
    private let reactor: Reactor
    private let descriptor: Int32
    private var watch: WatchID?
    private var isClosed = false
    private let onAnswer: () -> Void

    /// Sends it; nil where the kernel refuses.
    ///
    /// - Parameter onAnswer: called when the server has accepted or refused the connection.
    init?(
        _ peer: PeerAddress, over interface: String, on reactor: Reactor, onAnswer: @escaping () -> Void
    ) {
        self.reactor = reactor
        self.onAnswer = onAnswer
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        descriptor = socket(peer.address.family == .ipv4 ? AF_INET : AF_INET6, Int32(kind), 0)
        guard descriptor >= 0 else { return nil }
        // Refused before Linux 5.7 without privileges: then the kernel chooses, mostly the same interface.
        _ = InterfaceBinding.bind(descriptor, to: interface)
        var atOnce = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
        guard peer.connect(descriptor) == 0 || errno == EINPROGRESS else { return nil }
        do throws(ReactorError) {
            watch = try reactor.watch(descriptor, for: .writable) { [unowned self] in
                if $0.contains(.refused) { close() } else { answered() }
            }
        } catch {
            return nil
        }
    }

    deinit { close() }

    func close() {
        guard !isClosed, descriptor >= 0 else { return }
        isClosed = true
        if let watch { reactor.unwatch(watch) }
        Glibc.close(descriptor)
    }

    private func answered() {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
        close()
        // Anything else comes from this machine or from a router.
        if error == 0 || error == ECONNREFUSED || error == ECONNRESET { onAnswer() }
    }
}
