// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
package import SessionCore

/// The service's configuration, with its defaults; ``ServiceOption/all`` documents the values.
package struct ServiceConfiguration: Sendable, Equatable {
    package var socket = ServicePaths.socket
    package var stateDirectory = ServicePaths.stateDirectory
    package var runtimeDirectory = ""
    package var statusFile = true
    package var monitor = Monitor()
    package var probe = Probe()
    package var outbox = Outbox()
    package var history = History()
    package var hooks = Hooks()
    package var metrics = Metrics()
    package var telemetry = Telemetry()
    package var log = Log()

    package struct Monitor: Sendable, Equatable {
        package var lossGrace: Duration = .milliseconds(500)
        package var expensive: [String] = []
        /// As `wwan0=yes`.
        package var metered: [String] = []
        package var networks: [String] = []
        package var constrained: [String] = []
        package var mark: Int64 = 0
        package var port: Int64 = 443

        package init() {}
    }

    package struct Probe: Sendable, Equatable {
        /// Empty without a probe.
        package var url = ""
        /// 0 for 200 to 299.
        package var status: Int64 = 0
        /// Empty for anything.
        package var body = ""
        package var interval: Duration = .seconds(600)
        /// The longest pause while the answer is another.
        package var retry: Duration = .seconds(300)
        /// Zero for not at all while the preferred uplink works.
        package var expensiveInterval: Duration = .zero

        package init() {}

        /// Whether the server and its expected answer are the same.
        package func asks(as other: Probe) -> Bool {
            url == other.url && status == other.status && body == other.body
        }
    }

    package struct Outbox: Sendable, Equatable {
        package var group = ""
        package var entries: Int64 = 100_000
        package var bytes: Int64 = 1 << 30
        package var body: Int64 = 256 << 20
        package var reply: Int64 = 4 << 10
        package var whenFull = "refuse"
        /// Zero for ever.
        package var answerTimeout: Duration = .seconds(60)
        /// 0 for no end.
        package var maximumAttempts: Int64 = 0
        /// As ``BatchSetting`` reads them.
        package var batch: [String] = []
        /// As ``BudgetSetting`` reads them.
        package var budget: [String] = []
        /// In bytes a second; 0 for no limit.
        package var rate: Int64 = 0
        /// 0 for ``rate``.
        package var expensiveRate: Int64 = 0
        /// Empty for the folder `fetched` in the state directory.
        package var fetchFolders: [String] = []
        package var fetchBytes: Int64 = 1 << 30

        package init() {}
    }

    package struct History: Sendable, Equatable {
        package var isOn = true
        package var keep: Duration = .seconds(90 * 86_400)
        package var entries: Int64 = 100_000

        package init() {}
    }

    package struct Hooks: Sendable, Equatable {
        package var directory = "/etc/reach/hooks.d"
        package var timeout: Duration = .seconds(10)
        package var output: Int64 = 16_384

        package init() {}
    }

    package struct Metrics: Sendable, Equatable {
        package var file = ""
        package var interval: Duration = .seconds(60)
        package var listen: Endpoint?
        package var allowsRemote = false
        package var clients: Int64 = 8

        package init() {}
    }

    package struct Telemetry: Sendable, Equatable {
        /// Empty for none, as is ``remoteWrite``.
        package var otlp = ""
        package var remoteWrite = ""
        package var interval: Duration = .seconds(60)
        package var every: Duration = .seconds(300)
        /// Whether changes go to ``otlp`` as log records.
        package var logs = true
        /// As `Name: value`.
        package var headers: [String] = []
        /// As `Name: Bearer file:/PATH`.
        package var secrets: [String] = []
        package var network = NetworkCondition.any
        package var expires: Duration = .seconds(7 * 86_400)
        package var bytes: Int64 = 16 << 20

        package init() {}

        /// Whether anything is sampled.
        package var isOn: Bool { !otlp.isEmpty || !remoteWrite.isEmpty }
    }

    package struct Log: Sendable, Equatable {
        package var level = LogPriority.info
        package var format = "auto"
        package var changes: Int64 = 60

        package init() {}
    }

    package init() {}

    /// The folder of status.json: the socket's folder by default.
    package var statusDirectory: String {
        if !runtimeDirectory.isEmpty { return runtimeDirectory }
        guard socket.hasPrefix("/"), let slash = socket.lastIndex(of: "/") else { return stateDirectory }
        return slash == socket.startIndex ? "/" : String(socket[..<slash])
    }

    /// The configuration of the monitor.
    package var monitoring: ReachabilityConfiguration {
        var configuration = ReachabilityConfiguration()
        configuration.timing.lossGrace = monitor.lossGrace
        configuration.expensiveInterfaces = Set(monitor.expensive)
        configuration.metered = Metered.assignments(monitor.metered)
        configuration.meteredNetworks = Metered.assignments(monitor.networks)
        configuration.constrainedInterfaces = Set(monitor.constrained)
        configuration.mark = UInt32(clamping: monitor.mark)
        configuration.port = UInt16(clamping: monitor.port)
        configuration.reportsLinks = true
        return configuration
    }
}

/// An address with a port to listen at: `127.0.0.1:9464`, `[::1]:9464`.
package struct Endpoint: Sendable, Equatable, CustomStringConvertible {
    package var address: IPAddress
    /// 0 lets the kernel choose one.
    package var port: UInt16

    package init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Reads the text; nil for anything else, names included.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            !text[text.index(after: colon)...].hasPrefix("+")
        else { return nil }
        var host = String(text[..<colon])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = String(host.dropFirst().dropLast()) }
        guard let address = IPAddress(host), (address.family == .ipv6) == isBracketed else { return nil }
        self.init(address: address, port: port)
    }

    /// Whether the address is reachable from this machine only.
    package var isLoopback: Bool { address.isLoopback }

    package var description: String {
        address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}

/// The paths of the service on a device.
package enum ServicePaths {
    package static let socket = "/run/reach/reach.varlink"
    package static let configuration = "/etc/reach/reach.toml"
    package static let stateDirectory = "/var/lib/reach"
    /// The variable that names another socket to clients.
    package static let socketVariable = "REACH_SOCKET"
}
