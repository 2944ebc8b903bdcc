// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
package import ServiceCore

/// A blocking client for varlink methods: for programs with single calls, not for a loop.
package struct VarlinkClient: ~Copyable {
    private let descriptor: OwnedDescriptor
    private var framer: VarlinkFramer
    private let path: String

    /// The default time limit for a slot in the queue.
    package static let patience: Int64 = 10_000_000_000
    /// The longest reply: 16 MiB.
    private static let replyLimit = 16 << 20

    /// Connects; fails at once if no service listens (``ServiceError/Kind/absent``).
    ///
    /// Waits while the queue is full, until `limit` of ``Reactor/now`` (``ServiceError/Kind/busy``): the
    /// kernel admits waiting clients one after the other (unix(7), SO_SNDTIMEO).
    package init(path: String, until limit: Int64? = nil) throws(ServiceError) {
        let address = try UnixAddress(path)
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw Self.error(path) }
        let descriptor = OwnedDescriptor(adopting: number)
        let limit = limit ?? Reactor.now + Self.patience
        repeat {
            // Zero would mean for ever.
            let left = max(limit - Reactor.now, 1_000)
            _ = clinux_set_send_timeout(number, left)
            if address.with({ connect(number, $0, $1) }) == 0 {
                _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
                self.descriptor = descriptor
                self.path = path
                framer = VarlinkFramer(limit: Self.replyLimit)
                return
            }
        } while errno == EINTR
        switch errno {
        case EAGAIN:
            throw ServiceError(.busy, "\(path): the service has no room for another caller; try again")
        case ENOENT, ECONNREFUSED, ENOTDIR:
            throw ServiceError(.absent, Self.error(path).description)
        default: throw Self.error(path)
        }
    }

    /// Sends bytes unchanged, until `limit` on the monotonic clock (``Reactor/now``).
    package func send(_ bytes: [UInt8], until limit: Int64) throws(ServiceError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                try wait(for: POLLOUT, until: limit)
            } else if errno != EINTR {
                throw Self.error(path)
            }
        }
    }

    /// Sends a call.
    package func send(_ call: VarlinkCall, until limit: Int64) throws(ServiceError) {
        try send(call.message, until: limit)
    }

    /// The next reply as JSON; nil if the service has closed the connection.
    package mutating func receive(until limit: Int64) throws(ServiceError) -> [UInt8]? {
        while true {
            switch try received() {
            case .message(let message): return message
            case .closed: return nil
            case .incomplete: try wait(for: POLLIN, until: limit)
            }
        }
    }

    /// What has been received.
    package enum Received {
        /// A reply as JSON.
        case message([UInt8])
        /// More has to come: ``VarlinkClient/number`` gets readable.
        case incomplete
        /// The service has closed the connection.
        case closed
    }

    /// The socket, for a loop that waits until it is readable.
    package var number: Int32 { descriptor.number }

    /// The next reply, without waiting.
    package mutating func received() throws(ServiceError) -> Received {
        while true {
            switch framer.next() {
            case .message(let message): return .message(message)
            case .tooLong: throw ServiceError("\(path): the answer is too long")
            case .incomplete: break
            }
            var piece = [UInt8](repeating: 0, count: 64 << 10)
            let count = recv(descriptor.number, &piece, piece.count, 0)
            if count > 0 {
                framer.append(piece[..<count])
            } else if count == 0 || errno == ECONNRESET {
                return .closed
            } else if errno == EAGAIN {
                return .incomplete
            } else if errno != EINTR {
                throw Self.error(path)
            }
        }
    }

    private func wait(for events: Int32, until limit: Int64) throws(ServiceError) {
        let left = limit - Reactor.now
        guard left > 0 else { throw ServiceError("\(path): no answer in time") }
        var poll = pollfd(fd: descriptor.number, events: Int16(events), revents: 0)
        _ = Glibc.poll(&poll, 1, Int32(min((left + 999_999) / 1_000_000, Int64(Int32.max))))
    }

    private static func error(_ path: String) -> ServiceError {
        ServiceError("\(path): \(String(cString: strerror(errno)))")
    }
}
