// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import Reachability
import ServiceCore
import SessionManager

/// `reach doctor`: checks the usual causes of a failure and names the one that applies.
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        _superCommandName: Reach.name,
        abstract: "Go through what is usually wrong with a network, and say which one it is.",
        discussion: """
            It looks at the path first: carrier, address, default route. With the URL of a server of yours it goes on: does the \
            name have an address, is there a connection by IPv4 and by IPv6, does the server itself answer or a page to \
            sign in, is the clock right, do big packets get through; and does the server answer over each other link with a path of \
            its own. A page to sign in may look like any answer: \
            --probe-status and --probe-body say how the server's own looks. Where http_proxy or https_proxy names a proxy, \
            it is the proxy that is connected to. Nothing is sent without a URL.

            Exit codes: 0 nothing is wrong; 1 something is; 3 the kernel cannot be asked; 64 wrong usage; 130 interrupted.

            Example:
              reach doctor https://updates.example.com/
            """)

    @Argument(
        help: ArgumentHelp("A server that this machine has to reach.", valueName: "url"), transform: Value.url
    )
    var url: URL?

    @Option(
        name: .customLong("cacert"),
        help: ArgumentHelp("Trust the authorities of this file instead of the system's.", valueName: "file"))
    var authorities: String?

    @OptionGroup var answer: ExpectationOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if url == nil, answer.expectation != nil {
            throw ValidationError("--probe-status and --probe-body need a URL.")
        }
    }

    func run() throws {
        // Before any thread starts: threads inherit the handling of signals.
        MainThreadWaiter.blockSignals()
        let printer = DiagnosisPrinter(url: url, isJSON: output.json, style: output.style)
        var diagnosis = Diagnosis()
        func record(_ finding: Finding) throws {
            diagnosis.findings.append(finding)
            try printer.print(finding)
        }
        let report = try look()
        let path = report.path
        try record(DiagnosisRules.path(path))
        if let cost = DiagnosisRules.cost(path) { try record(cost) }
        // Without a route the further checks say nothing more.
        if path.isOnline || path.alternative != nil {
            if let url {
                try examine(url, path, record)
                try examineOtherUplinks(url, report, record)
            } else {
                try record(.skipped(.name, Self.invitation))
            }
        }
        try printer.conclude(diagnosis)
        if diagnosis.cause != nil { throw ExitCode.unreachable }
    }

    static let invitation = "to go on, name a server of yours: reach doctor https://…"

    /// The general path; if there is none, the path to the server, which may be on a local network.
    private func look() throws -> NetworkReport {
        do {
            let general = try ReachabilityManager.check()
            guard !general.path.isOnline, let host = url?.host() else { return general }
            switch HostCheck.run(host) {
            case .found(let own): return own.path.isOnline ? own : general
            case .failed(let error): throw error
            case .interrupted, .timedOut: throw ExitCode.interrupted
            }
        } catch let error as ReachabilityError { throw complain(error) }
    }

    /// Asks the server over each other link with a path of its own.
    private func examineOtherUplinks(
        _ url: URL, _ report: NetworkReport, _ record: (Finding) throws -> Void
    ) throws {
        let path = report.path
        let own = path.interface ?? path.alternative
        guard !path.isTunnel, path.medium != .loopback,
            report.links.contains(where: { $0.isOnline && $0.name != own }),
            ProxyChoice(for: url, environment: ProxyChoice.environment()) == nil
        else { return }
        let waiter = try MainThreadWaiter.begin(forTask: true, orExit: .cannotMonitor)
        let probe = OneShotProbe(
            InternetProbeConfiguration(url, expectation: answer.expectation ?? Self.anyAnswer),
            policy: policy)
        let findings = try probe.findings(
            Report(status: report.status, path: path, links: report.links), waiter)
        for uplink in findings.uplinks where uplink.interface != own {
            try record(DiagnosisRules.uplink(uplink))
        }
    }

    /// An answer that a page to sign in does not give: no redirect, and not 511 (RFC 6585 §6).
    private static let anyAnswer = InternetExpectation(statusCodes: [200...299, 400...510, 512...599])

    private func examine(_ url: URL, _ path: ReachabilityPath, _ record: (Finding) throws -> Void) throws {
        let host = url.host() ?? ""
        if let proxy = ProxyChoice(for: url, environment: ProxyChoice.environment()) {
            let seen = try Self.look(at: proxy)
            // The proxy looks the server's name up and connects to it, so this machine can check neither.
            guard case .connection(let connection) = seen, connection.outcome == .connected else {
                let worksWithout = try Self.connects(to: host, port: Self.port(url))
                return try record(
                    DiagnosisRules.proxy(proxy, seen, host: host, worksWithout: worksWithout))
            }
            try record(DiagnosisRules.proxy(proxy, seen, host: host, worksWithout: nil))
            return try ask(url, path, server: nil, record)
        }
        let (name, addresses) = try Self.addresses(of: host)
        if let name { try record(DiagnosisRules.name(name)) }
        guard !addresses.isEmpty else { return }
        var seen = try ConnectionProbe.observe(addresses, port: Self.port(url))
        for index in seen.indices where seen[index].outcome != .connected {
            seen[index].silentNeighbour = Self.silentNeighbour(towards: seen[index].address)
        }
        for finding in DiagnosisRules.connections(seen, path: path) { try record(finding) }
        guard seen.contains(where: { $0.outcome == .connected }) else {
            // A captive portal often closes the port of TLS and answers at the other one.
            guard DiagnosisRules.mayBePortal(seen), let other = probe(of: url).inTheClear else { return }
            guard let observed = try other.observe() else { throw ExitCode.interrupted }
            if let portal = DiagnosisRules.portal(observed, url: url) { try record(portal) }
            return
        }
        let server = seen.first { $0.outcome == .connected }
        try ask(url, path, server: server.map { SegmentProbe(address: $0.address, port: $0.port) }, record)
    }

    /// Uses the path to the address instead of the default route: the address may be on a link, or behind
    /// another gateway.
    private static func silentNeighbour(towards address: IPAddress) -> ConnectionObservation.Neighbour? {
        guard let report = try? ReachabilityManager.check(host: address.description) else { return nil }
        return ConnectionProbe.silentNeighbour(on: report.path, to: address)
    }

    private static func port(_ url: URL) -> Int {
        url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
    }

    /// The addresses to try, if any, and the result of a name lookup.
    private static func addresses(of host: String) throws -> (NameObservation?, [IPAddress]) {
        if let address = IPAddress(host) { return (nil, [address]) }
        guard let seen = try NameProbe.observe(host) else { throw ExitCode.interrupted }
        guard case .found(let found) = seen.outcome else { return (seen, []) }
        // Two of each family are enough.
        let few = IPAddress.Family.allCases.flatMap { family in
            found.filter { $0.family == family }.prefix(2)
        }
        return (seen, few)
    }

    private static func look(at proxy: ProxyChoice) throws -> ProxyObservation {
        let (name, addresses) = try addresses(of: proxy.host)
        let seen = try ConnectionProbe.observe(addresses, port: proxy.port)
        guard let decisive = seen.first(where: { $0.outcome == .connected }) ?? seen.first else {
            return .name(name?.outcome ?? .noSuchName)
        }
        return .connection(decisive)
    }

    private static func connects(to host: String, port: Int) throws -> Bool {
        try ConnectionProbe.observe(addresses(of: host).1, port: port).contains {
            $0.outcome == .connected
        }
    }

    private var policy: SecurityPolicy {
        var policy = SecurityPolicy.default
        if let authorities { policy.trustRoots = .only(.file(authorities)) }
        return policy
    }

    private func probe(of url: URL) -> ExchangeProbe {
        ExchangeProbe(url: url, policy: policy, expectation: answer.expectation)
    }

    /// - Parameter server: what is connected to; nil for a proxy.
    private func ask(
        _ url: URL, _ path: ReachabilityPath, server: SegmentProbe?, _ record: (Finding) throws -> Void
    ) throws {
        let probe = probe(of: url)
        guard var seen = try probe.observe() else { throw ExitCode.interrupted }
        if case .notValidNow(let words, var evidence) = seen.outcome {
            guard let observed = try probe.ofTimes.observe() else { throw ExitCode.interrupted }
            evidence.certificate = observed.certificate ?? evidence.certificate
            if case .answered = observed.outcome { evidence.isOfAuthority = observed.certificate == nil }
            evidence.server = observed.clockAhead.map { evidence.now - $0 }
            seen.outcome = .notValidNow(words, evidence)
        }
        var inTheClear: ExchangeObservation?
        if server != nil, DiagnosisRules.mayBePortal(seen), let other = probe.inTheClear {
            guard let observed = try other.observe() else { throw ExitCode.interrupted }
            inTheClear = observed
        }
        try record(DiagnosisRules.answer(seen, url: url, inTheClear: inTheClear))
        if let clock = DiagnosisRules.clock(seen) { try record(clock) }
        let router = path.gateway?.description
        let mtu = ConnectionProbe.mtu(path.interface)
        guard case .silent = seen.outcome else {
            // The server's packets get through; this machine's may not.
            let lost = DiagnosisRules.packetsLost(
                interface: path.interface, mtu: mtu, largest: try server?.observe() ?? .unknown,
                router: router)
            if let lost { try record(lost) }
            return
        }
        guard let small = try probe.observe(segmentSize: ExchangeProbe.smallSegment) else {
            throw ExitCode.interrupted
        }
        try record(
            DiagnosisRules.packets(
                small, interface: path.interface, mtu: mtu, largest: try server?.observe() ?? .unknown,
                router: router))
    }
}
