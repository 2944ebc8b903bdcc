// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachabilityCore
import SessionCore

extension NetworkDemand {
    /// What a request asks of the network.
    ///
    /// - Parameters:
    ///   - needsInternet: Whether it does because of what was found, beside the task's own wish.
    ///   - needsClock: Whether its server's certificate was refused for a wrong clock.
    init(
        _ request: SessionRequest, of task: SessionTask, needsInternet: Bool = false, needsClock: Bool = false
    ) {
        guard !request.url.isOnThisMachine, task.session.configuration.unixSocket == nil else {
            self = .nothing
            return
        }
        let wanted = task.queueing
        self.init(
            wanted.values.networkCondition, avoidsExpense: !request.options.allowsExpensiveNetwork,
            avoidsConstraint: !request.options.allowsConstrainedNetwork,
            needsInternet: needsInternet || wanted.values.requiresInternet, needsClock: needsClock)
    }

    /// What a task that has started asks of the network, by what is known of the lines and the clock too.
    init(_ executor: RequestExecutor, _ lines: LineDetour) {
        self.init(
            executor.request, of: executor.task,
            needsInternet: executor.needsInternet || lines.holdsPlain(executor.request.url),
            needsClock: executor.needsClock)
    }

    /// What a task asks of the network before it starts: nothing where a stored response may do.
    init(beforeStartOf task: SessionTask) {
        let request = task.originalRequest
        if task.plan.cache != nil, task.plan.stream == nil, request.method == .get,
            request.options.cachePolicy != .reloadIgnoringLocalCacheData
        {
            self = .nothing
            return
        }
        self.init(request, of: task)
    }
}

extension QueueRequest {
    /// What a task asks of the queue.
    init(_ task: SessionTask, _ settings: RequestQueue.Settings, dependencies: Int) {
        self.init()
        demand = NetworkDemand(beforeStartOf: task)
        priority = task.priority
        lane = task.queueing.values.lane
        if settings.maximumRequestsPerHost != nil {
            let url = task.originalRequest.url
            host =
                task.session.configuration.unixSocket
                ?? (task.plan.strictTransport?.secured(url) ?? url).originText
        }
        offlineLimit = task.offlineLimit(settings)
        self.dependencies = dependencies
    }
}

extension RequestQueueStateMachine.Limits {
    init(_ settings: RequestQueue.Settings) {
        self.init()
        maximumActive = settings.maximumActiveRequests ?? .max
        maximumPerHost = settings.maximumRequestsPerHost ?? .max
        ramp = settings.ramp
    }
}

extension SessionTask {
    /// What it asks of its queue.
    var queueing: QueueOptions { plan.options.queueing ?? .nothing }

    /// How long the network may hold it, in nanoseconds; nil for as long as it takes.
    func offlineLimit(_ settings: RequestQueue.Settings) -> Int64? {
        let wanted = queueing
        if !wanted.values.waitsForNetwork { return 0 }
        return (wanted.values.offlineLimit ?? settings.offlineLimit)?.nanoseconds
    }
}

extension URL {
    /// Whether its host is this machine by its name alone: `localhost` and below (RFC 6761 §6.3), 127.0.0.0/8
    /// or ::1, or a socket.
    ///
    /// Reads the bytes, since each request asks where there is no network for all of them.
    var isOnThisMachine: Bool {
        var text = absoluteString
        return text.withUTF8 { bytes in
            guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")) else { return false }
            if bytes[..<slash].contains(UInt8(ascii: "+")) { return true }
            return Self.isThisMachine(Self.host(in: bytes, from: min(slash + 2, bytes.count)))
        }
    }

    /// The host of an authority that begins at `start`, with its brackets.
    private static func host(
        in text: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> UnsafeBufferPointer<UInt8> {
        var (start, index) = (start, start)
        var port: Int?
        var isBracketed = false
        scan: while index < text.count {
            switch text[index] {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break scan
            case UInt8(ascii: "@"): (start, port) = (index + 1, nil)
            case UInt8(ascii: "["): isBracketed = true
            case UInt8(ascii: "]"): isBracketed = false
            case UInt8(ascii: ":") where !isBracketed: port = port ?? index
            default: break
            }
            index += 1
        }
        let end = port ?? index
        return UnsafeBufferPointer(rebasing: text[start..<max(start, end)])
    }

    /// Whether a host, in brackets if it is an IPv6 address, is this machine.
    private static func isThisMachine(_ host: UnsafeBufferPointer<UInt8>) -> Bool {
        switch host.first {
        case UInt8(ascii: "["):
            let address = host.dropFirst().prefix { $0 != UInt8(ascii: "]") }
            return IPAddress(String(decoding: address, as: UTF8.self))?.isLoopback == true
        case UInt8(ascii: "1"):
            // Also `127.1`, which libcurl and inet_aton(3) read as an address.
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            return host.starts(with: "127.".utf8)
                && host.allSatisfy { digits.contains($0) || $0 == UInt8(ascii: ".") }
        default:
            let name = host.last == UInt8(ascii: ".") ? host.dropLast() : host[...]
            let own = "localhost".utf8
            guard name.suffix(own.count).elementsEqual(own, by: { $0 | 0x20 == $1 }) else { return false }
            return name.count == own.count || name.dropLast(own.count).last == UInt8(ascii: ".")
        }
    }
}
