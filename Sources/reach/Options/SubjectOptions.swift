// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EventLoop
import Glibc
import Reachability
import Service
import ServiceCore

/// The subject of all subcommands that evaluate the network.
struct SubjectOptions: ParsableArguments {
    @Option(
        name: .customLong("host"),
        help: ArgumentHelp("Ask about this one host instead of anywhere.", valueName: "name|address"),
        transform: HostText.init)
    var host: HostText?

    @Option(
        via:
            "Ask about this interface, or the best one of a medium (wifi, wired, cellular), preferred by the kernel or not."
    )
    var via: NetworkRequirement?

    @Flag(name: .customShort("4"), help: "Only IPv4.")
    var onlyIPv4 = false

    @Flag(name: .customShort("6"), help: "Only IPv6.")
    var onlyIPv6 = false

    @Option(
        name: .customLong("mark"), help: "Ask for traffic with this firewall mark (SO_MARK).",
        transform: Value.mark)
    var mark: UInt32?

    @Option(name: .customLong("uid"), help: "Ask for the traffic of this user.", transform: Value.user)
    var user: UInt32?

    @Option(
        name: .customLong("port"),
        help:
            "Ask for TCP to this port, where policy rules treat ports or protocols differently (default: 443).",
        transform: Value.port)
    var port: UInt16?

    @Option(
        name: .customLong("metered"),
        help: ArgumentHelp(
            "What the traffic of an interface costs: yes, guess-yes, guess-no, no or unknown.",
            valueName: "interface=value"), transform: Value.metered)
    var metered: [(name: String, metered: Metered)] = []

    @Option(
        name: .customLong("constrained"),
        help: ArgumentHelp("Data is to be saved on this interface.", valueName: "interface"),
        transform: Value.interface)
    var constrained: [String] = []

    func validate() throws {
        if onlyIPv4, onlyIPv6 { throw ValidationError("-4 and -6 exclude each other.") }
        if let literal = host?.family, let family, literal != family {
            throw ValidationError(
                "\(host?.text ?? "") is not an \(family == .ipv4 ? "IPv4" : "IPv6") address.")
        }
    }

    /// Refuses a probe that would be about another path.
    func validate(_ probe: ProbeOptions) throws {
        guard via != nil, probe.url != nil else { return }
        throw ValidationError("--via and --probe exclude each other: --probe alone asks over every uplink.")
    }

    private var family: IPAddress.Family? { onlyIPv4 ? .ipv4 : onlyIPv6 ? .ipv6 : nil }

    /// The configuration for these options.
    func configuration(reportsLinks: Bool = true) -> ReachabilityConfiguration {
        var configuration = ReachabilityConfiguration()
        configuration.family = family
        configuration.mark = mark ?? 0
        configuration.user = user
        if let port { configuration.port = port }
        for (name, metered) in metered { configuration.metered[name] = metered }
        configuration.constrainedInterfaces = Set(constrained)
        configuration.requirement = via
        configuration.reportsLinks = reportsLinks
        return configuration
    }

    /// Since when the status of `report` holds, if a service of the general path has seen it begin.
    func since(_ report: Report) -> WallTime? {
        guard host == nil, via == nil, family == nil, mark == nil, user == nil, port == nil else {
            return nil
        }
        let path = ServicePaths.socketHere
        return path.isEmpty ? nil : StatusQuery.since(report, at: path)
    }

    /// Adds what a service of the general path knows: what links cost, since when the status holds, and,
    /// where nothing is asked here, what is behind each uplink.
    func complete(_ report: inout Report, since wantsSince: Bool, internet wantsInternet: Bool) {
        guard let reply = state() else { return }
        if wantsSince { report.since = StatusQuery.since(report, reply: reply) }
        // What the command line says of an interface counts more.
        StatusQuery.adoptCosts(of: reply, into: &report, besides: Set(metered.map(\.name)))
        if wantsInternet { StatusQuery.adoptInternet(of: reply, into: &report) }
    }

    /// What a service of the general path knows of costs and this process does not, for a manager that lasts:
    /// its hints, and in the configuration where data is to be saved.
    ///
    /// - Parameter reply: the service's ``state()``.
    func hints(_ configuration: inout ReachabilityConfiguration, _ reply: [UInt8]?) -> InterfaceHints? {
        guard let reply,
            let found = try? ReachabilityManager.check(configuration: configuration)
        else { return nil }
        let report = Report(status: found.status, path: found.path, links: found.links)
        var known = report
        StatusQuery.adoptCosts(of: reply, into: &known, besides: Set(metered.map(\.name)))
        let hints = InterfaceHints()
        // The rest changes with the link, as the name of its Wi-Fi network does.
        for (own, link) in zip(report.links, known.links) where own != link {
            if link.isConstrained { configuration.constrainedInterfaces.insert(link.name) }
            let hint = InterfaceHint(
                name: link.name, index: link.index, metered: own.metered == link.metered ? nil : link.metered,
                isRoaming: own.isRoaming == link.isRoaming ? nil : link.isRoaming)
            _ = hints.set(hint)
        }
        return hints
    }

    /// What a service of the general path replies; nil without one, and for another subject.
    func state() -> [UInt8]? { servicePath.flatMap { StatusQuery.state(at: $0) } }

    /// Follows what a service of the general path reports, until the result is released; nil for another
    /// subject.
    func followService(
        _ block: @escaping @Sendable ([UInt8]?) -> Void
    ) -> LoopBound<StatusSubscription>? {
        guard let path = servicePath, let loop = try? Reactor.shared else { return nil }
        let bound = LoopBound(StatusSubscription(path: path, on: loop, onReply: block), to: loop)
        bound.perform { $0.start() }
        return bound
    }

    /// The socket of a service of the general path; nil for another subject.
    var servicePath: String? {
        guard host == nil, family == nil, mark == nil, user == nil, port == nil, via == nil,
            !ServicePaths.socketHere.isEmpty
        else { return nil }
        return ServicePaths.socketHere
    }

    /// A manager for these options; its observers, and `recorder` with all input, run on the loop's thread.
    func manager(
        _ configuration: ReachabilityConfiguration, hints: InterfaceHints? = nil,
        recorder: (@Sendable (RecordedItem) -> Void)? = nil
    ) -> ReachabilityManager {
        var environment = MonitorEnvironment.kernel
        environment.hints = hints
        environment.recorder = recorder
        return ReachabilityManager(
            host.map { MonitorTarget($0.text) } ?? .general, configuration, .custom { $0() }, environment)
    }
}

/// The format of the output.
struct OutputOptions: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print JSON, one object on one line.")
    var json = false

    @Option(
        name: .customLong("color"),
        help: ArgumentHelp("Colours: auto, always or never (NO_COLOR counts for auto).", valueName: "when"))
    var color: Terminal.ColorChoice = .auto

    /// The style of text for people on standard output.
    var style: Style { Terminal(descriptor: StandardStream.output.descriptor).style(color) }
}

extension ServicePaths {
    /// The socket of the service on this machine; empty for none.
    static var socketHere: String { getenv(socketVariable).map { String(cString: $0) } ?? socket }
}

/// Interfaces by their name in this machine's kernel.
enum InterfaceName {
    /// Whether an interface of that name exists; true if the kernel cannot be asked.
    static func exists(_ name: String) -> Bool {
        // A name that is not UTF-8 was repaired before, so the kernel would not know it.
        if name.unicodeScalars.contains("\u{FFFD}") { return true }
        // if_nametoindex(3): 0 for an error, ENODEV if there is none.
        return if_nametoindex(name) != 0 || errno != ENODEV
    }
}
