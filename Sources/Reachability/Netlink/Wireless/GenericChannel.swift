// SPDX-License-Identifier: Apache-2.0

internal import CNetlink

/// Sends requests to generic netlink and reads the replies one message at a time, without storing a dump.
final class GenericChannel {
    /// The reason why there is no answer: the errno(3) of the kernel's refusal or of the exchange.
    struct Refusal: Error {
        let errno: Int32
    }

    /// Attempts to read a reply that did not fit.
    private static let attempts = 3
    /// Datagrams read in one exchange; a Wi-Fi driver stores at most 1000 scan results.
    private static let datagramLimit = 2048

    private let open: () throws(NetlinkError) -> any NetlinkTransport
    private var transport: (any NetlinkTransport)?
    // Grows when a reply does not fit.
    private var buffer = [UInt8](repeating: 0, count: 8192)
    private var request = NetlinkRequest()
    private var sequence: UInt32 = 0

    /// A channel over the transport that `open` creates, when needed and after a failure.
    init(open: @escaping () throws(NetlinkError) -> any NetlinkTransport) { self.open = open }

    /// Sends the request of `write`, which gets its number, and passes the reply's messages to `read`: the
    /// first one, or all of a dump.
    ///
    /// - Returns: false if a change interrupted the dump (NLM_F_DUMP_INTR), so that messages may be missing.
    @discardableResult
    func exchange(
        isDump: Bool, _ write: (inout NetlinkRequest, UInt32) -> Void,
        _ read: (NetlinkMessage, RawSpan) -> Void
    ) throws(Refusal) -> Bool {
        for _ in 1..<Self.attempts {
            do throws(Refusal) {
                return try exchangeOnce(isDump: isDump, write, read)
            } catch {
                guard error.errno == EMSGSIZE else { throw error }
            }
        }
        return try exchangeOnce(isDump: isDump, write, read)
    }

    private func exchangeOnce(
        isDump: Bool, _ write: (inout NetlinkRequest, UInt32) -> Void,
        _ read: (NetlinkMessage, RawSpan) -> Void
    ) throws(Refusal) -> Bool {
        sequence &+= 1
        request.clear()
        write(&request, sequence)
        try send()
        var isWhole = true
        for _ in 0..<Self.datagramLimit {
            switch transport?.receive(into: &buffer) {
            case .datagram(let byteCount):
                let datagram = buffer
                switch Self.read(
                    datagram.span.bytes.extracting(0..<byteCount), sequence, isDump: isDump, &isWhole, read)
                {
                case .more: break
                case .over: return isWhole
                case .refused(let errno): throw Refusal(errno: errno)
                }
            case .foreign: break
            case .truncated(let needed):
                buffer = [UInt8](repeating: 0, count: NetlinkSocket.grown(buffer.count, needed: needed))
                throw broken(EMSGSIZE)
            case .nothing, .overrun, .broken, nil: throw broken(ETIMEDOUT)
            }
        }
        throw broken(ETIMEDOUT)
    }

    private func send() throws(Refusal) {
        do throws(NetlinkError) {
            let transport = if let transport { transport } else { try open() }
            self.transport = transport
            try transport.send(request.bytes)
        } catch {
            throw broken(error.errno == 0 ? EIO : error.errno)
        }
    }

    /// An unfinished dump keeps the socket busy (EBUSY), so the next request uses a new one.
    private func broken(_ errno: Int32) -> Refusal {
        transport = nil
        return Refusal(errno: errno)
    }

    private enum Progress {
        case more, over
        case refused(errno: Int32)
    }

    /// Reads one datagram of the reply.
    private static func read(
        _ bytes: RawSpan, _ sequence: UInt32, isDump: Bool, _ isWhole: inout Bool,
        _ read: (NetlinkMessage, RawSpan) -> Void
    ) -> Progress {
        var walk = NetlinkMessages()
        while let message = walk.next(in: bytes) {
            // A late reply to an earlier request.
            guard message.sequence == sequence else { continue }
            if message.isInterrupted { isWhole = false }
            switch Int32(message.type) {
            case NLMSG_DONE, NLMSG_ERROR:
                let number = message.errorNumber(in: bytes) ?? EBADMSG
                return number == 0 ? .over : .refused(errno: number)
            default:
                read(message, bytes)
                if !isDump { return .over }
            }
        }
        return .more
    }
}
