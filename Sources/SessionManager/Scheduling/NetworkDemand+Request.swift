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
        let options = task.plan.options.queueValues
        self.init(
            options.networkCondition, avoidsExpense: !request.options.allowsExpensiveNetwork,
            avoidsConstraint: !request.options.allowsConstrainedNetwork,
            needsInternet: needsInternet || options.requiresInternet, needsClock: needsClock)
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
        lane = task.plan.options.queueValues.lane
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
    /// How long the network may hold it, in nanoseconds; nil for as long as it takes.
    func offlineLimit(_ settings: RequestQueue.Settings) -> Int64? {
        let options = plan.options.queueValues
        if !options.waitsForNetwork { return 0 }
        return (options.offlineLimit ?? settings.offlineLimit)?.nanoseconds
    }
}

extension URL {
    /// Whether its host is this machine by its name alone: `localhost` and below (RFC 6761 §6.3), 127.0.0.0/8
    /// or ::1, or a socket.
    var isOnThisMachine: Bool {
        var text = originText
        return text.withUTF8 { bytes in
            guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")) else { return false }
            if bytes[..<slash].contains(UInt8(ascii: "+")) { return true }
            var host = bytes[slash...].dropFirst(2)
            if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host[(at + 1)...] }
            let isBracketed = host.first == UInt8(ascii: "[")
            let end = isBracketed ? UInt8(ascii: "]") : UInt8(ascii: ":")
            host = host.dropFirst(isBracketed ? 1 : 0).prefix { $0 != end }
            guard let first = host.first else { return false }
            if isBracketed || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first),
                let address = IPAddress(String(decoding: host, as: UTF8.self))
            {
                return address.isLoopback
            }
            return host.elementsEqual("localhost".utf8)
                || host.suffix(10).elementsEqual(".localhost".utf8)
        }
    }
}
