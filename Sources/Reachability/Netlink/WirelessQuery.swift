// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// Asks nl80211 about an interface (linux/nl80211.h).
///
/// It never fails as a whole: Wi-Fi's details are an extra, so what cannot be asked is an answer too.
package final class WirelessQuery {
    private let open: () throws(NetlinkError) -> any NetlinkTransport
    private var transport: (any NetlinkTransport)?
    private var family: UInt16?
    // Grown where a reply does not fit.
    private var buffer = [UInt8](repeating: 0, count: 8192)
    private var request = NetlinkRequest()
    private var sequence: UInt32 = 0

    /// Asks over what `open` opens, when it is needed and again when it broke.
    package init(open: @escaping () throws(NetlinkError) -> any NetlinkTransport) { self.open = open }

    /// What nl80211 says of the interface: ENOENT where the kernel has no nl80211 (loaded), ENODEV where the
    /// interface is not Wi-Fi.
    package func state(of index: Int32) -> KernelAnswer {
        do throws(Refusal) {
            let family = try familyNumber()
            var state: WirelessState?
            try ask(family, UInt8(NL80211_CMD_GET_INTERFACE.rawValue), index) { body, bytes in
                state = WirelessState(interface: body, in: bytes) ?? state
            }
            guard var state else { return .failure(EBADMSG) }
            // An access point has many stations; a client has one: its access point.
            if state.mode == 2 || state.mode == 8 {
                try? ask(family, UInt8(NL80211_CMD_GET_STATION.rawValue), index, flags: NLM_F_DUMP) {
                    body, bytes in
                    state.readStation(body, in: bytes)
                }
            }
            return .wireless(state)
        } catch {
            // A number that the family no longer has: its module was loaded anew.
            if error.errno == ENOENT || error.errno == EOPNOTSUPP { family = nil }
            return .failure(error.errno)
        }
    }

    private struct Refusal: Error {
        let errno: Int32
    }

    private func familyNumber() throws(Refusal) -> UInt16 {
        if let family { return family }
        sequence &+= 1
        request.clear()
        GenericFamily.ask("nl80211", sequence: sequence, in: &request)
        var found: UInt16?
        try exchange(isDump: false) { body, bytes in found = GenericFamily(body, in: bytes)?.number ?? found }
        guard let found else { throw Refusal(errno: EBADMSG) }
        family = found
        return found
    }

    private func ask(
        _ family: UInt16, _ command: UInt8, _ index: Int32, flags: Int32 = 0,
        _ read: (Range<Int>, RawSpan) -> Void
    ) throws(Refusal) {
        sequence &+= 1
        request.clear()
        request.begin(family, flags: flags, sequence: sequence)
        request.append(command)
        request.append(UInt8(0))
        request.append(UInt16(0))
        request.attribute(Int(NL80211_ATTR_IFINDEX.rawValue), index)
        request.end()
        try exchange(isDump: flags & NLM_F_DUMP != 0, read)
    }

    /// Sends the request and reads the reply: one message, or a dump up to its end.
    private func exchange(isDump: Bool, _ read: (Range<Int>, RawSpan) -> Void) throws(Refusal) {
        do throws(NetlinkError) {
            let transport = if let transport { transport } else { try open() }
            self.transport = transport
            try transport.send(request.bytes)
        } catch {
            transport = nil
            throw Refusal(errno: error.errno == 0 ? EIO : error.errno)
        }
        for _ in 0..<1024 {
            switch transport?.receive(into: &buffer) {
            case .datagram(let byteCount):
                switch Self.take(
                    buffer.span.bytes.extracting(0..<byteCount), sequence, isDump: isDump, read)
                {
                case .more: break
                case .over: return
                case .refused(let errno): throw Refusal(errno: errno)
                }
            case .foreign: break
            case .truncated(let needed):
                buffer = [UInt8](repeating: 0, count: NetlinkSocket.grown(buffer.count, needed: needed))
                transport = nil
                throw Refusal(errno: EMSGSIZE)
            case .nothing, .overrun, .broken, nil:
                transport = nil
                throw Refusal(errno: ETIMEDOUT)
            }
        }
        transport = nil
        throw Refusal(errno: ETIMEDOUT)
    }

    private enum Progress {
        case more, over
        case refused(errno: Int32)
    }

    /// Reads one datagram of the reply.
    private static func take(
        _ bytes: RawSpan, _ sequence: UInt32, isDump: Bool, _ read: (Range<Int>, RawSpan) -> Void
    ) -> Progress {
        var walk = NetlinkMessages()
        while let message = walk.next(in: bytes) {
            // A late reply to an earlier question.
            guard message.sequence == sequence else { continue }
            switch Int32(message.type) {
            case NLMSG_DONE: return .over
            case NLMSG_ERROR:
                let number = message.errorNumber(in: bytes) ?? EBADMSG
                return number == 0 ? .over : .refused(errno: number)
            default:
                read(message.body, bytes)
                if !isDump { return .over }
            }
        }
        return .more
    }
}
