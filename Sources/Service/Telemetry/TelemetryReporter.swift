// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import ReachabilityCore
package import ServiceCore
import SessionCore

/// Samples the service's own metrics, and hands samples and changes to the outbox a few at a time.
///
/// Nothing is sampled without a server in the configuration, and the loop is not woken up then.
package final class TelemetryReporter: ServiceComponent {
    package let name = "telemetry"

    /// Stores a batch in the outbox, and calls back with why it could not; nil when it is on the disk.
    package typealias Store = (
        _ batch: TelemetryBatch, _ resource: TelemetryResource, _ settings: ServiceConfiguration.Telemetry,
        _ done: @escaping (String?) -> Void
    ) -> Void

    private var settings: ServiceConfiguration.Telemetry
    private let version: String
    private let store: Store
    /// The metrics as they are now; nil where there are none.
    package var metrics: (() -> [MetricFamily]?)?
    /// The share of the first pauses that is waited, 0 to 1: devices that lost the same power line begin
    /// together.
    package var share: () -> Double = { Double.random(in: 0...1) }

    private var context: ServiceContext?
    private var log = TelemetryLog()
    private var internet = InternetHistory()
    /// When the counters began, by the boot clock.
    private var began: Int64 = 0
    private var timer: TimerID?
    /// When the samples go to the outbox.
    private var nextStore: Int64 = 0
    private var isStoring = false
    private var isFailing = false
    private var end: (() -> Void)?
    private var hasEnded = false

    /// How many samples are stored before their time.
    package static let samplesPerBatch = 120
    /// 2024-01-01: a clock that shows less was not set yet, and a server would refuse its times.
    private static let earliest: Int64 = 1_704_067_200_000_000_000

    package init(
        _ settings: ServiceConfiguration.Telemetry, version: String, store: @escaping Store
    ) {
        self.settings = settings
        self.version = version
        self.store = store
    }

    package func start(_ context: ServiceContext) throws(ServiceError) {
        self.context = context
        began = context.bootClock()
        begin()
    }

    package func reload(_ configuration: ServiceConfiguration) {
        guard settings != configuration.telemetry else { return }
        settings = configuration.telemetry
        if let timer { context?.reactor.cancel(timer) }
        timer = nil
        if !settings.isOn { log = TelemetryLog() }
        begin()
    }

    private func begin() {
        guard settings.isOn else { return }
        nextStore = Reactor.now + part(of: settings.every)
        schedule(at: Reactor.now + part(of: settings.interval))
    }

    private func part(of pause: Duration) -> Int64 {
        Int64(Double(pause.inNanoseconds) * min(max(share(), 0), 1))
    }

    private func schedule(at instant: Int64) {
        timer = context?.reactor.schedule(at: instant) { [weak self] in self?.tick(instant) }
    }

    private func tick(_ instant: Int64) {
        guard let context else { return }
        log.sample(metrics?() ?? [], at: context.bootClock(), isWhole: true)
        let now = Reactor.now
        if now >= nextStore || log.times.count >= Self.samplesPerBatch { storeLog() }
        // Samples that a suspended machine has missed are not made up for.
        let interval = settings.interval.inNanoseconds
        schedule(at: instant + interval * ((now - instant) / interval + 1))
    }

    // MARK: Changes

    package func statusChanged(_ change: CommittedChange) {
        guard let context, settings.isOn else { return }
        let boot = context.bootClock()
        let names = ["reach_status", "reach_online", "reach_path_info"]
        if log.add(TelemetryChange(change, boot: boot)) { sample(names, at: boot) }
        // Without a path there is no internet behind it.
        if change.internet != nil { internetChanged(change) }
    }

    package func internetChanged(_ change: CommittedChange) {
        guard let context, settings.isOn else { return }
        let boot = context.bootClock()
        let records = internet.records(change, wall: context.wallClock(), boot: boot)
        let added = records.filter { log.add(TelemetryChange(internet: $0)) }
        if !added.isEmpty { sample(["reach_internet", "reach_uplink_internet"], at: boot) }
    }

    /// Samples what a change has changed, at its own time.
    private func sample(_ names: [String], at boot: Int64) {
        let families = (metrics?() ?? []).filter { names.contains("\($0.name)") }
        if !families.isEmpty { log.sample(families, at: boot, isWhole: false) }
    }

    // MARK: Storing

    private func storeLog() {
        guard let context, !isStoring, !log.isEmpty else { return }
        let wall = context.wallClock().nanoseconds
        guard wall >= Self.earliest else { return }
        isStoring = true
        let batch = log.batch(offset: wall - context.bootClock(), start: began)
        let resource = TelemetryResource(version: version, host: Machine.name, id: Machine.id)
        store(batch, resource, settings) { [self] problem in
            isStoring = false
            stored(batch, problem)
            if end != nil { finish() }
        }
    }

    private func stored(_ batch: TelemetryBatch, _ problem: String?) {
        if let problem {
            if !isFailing { context?.log(.warning, "telemetry: \(problem)") }
        } else {
            log.remove(batch)
            nextStore = Reactor.now + settings.every.inNanoseconds
            if isFailing { context?.log(.notice, "telemetry: samples are stored again") }
        }
        isFailing = problem != nil
    }

    package var stateLine: String? {
        guard settings.isOn else { return nil }
        return
            "\(log.times.count) samples and \(log.changes.count) changes in memory, \(log.samplesDropped) samples dropped, \(log.changesLeftOut) changes left out"
    }

    package func stop(_ done: @escaping () -> Void) {
        if let timer { context?.reactor.cancel(timer) }
        timer = nil
        guard let context, settings.isOn else { return done() }
        end = done
        let boot = context.bootClock()
        log.sample(metrics?() ?? [], at: boot, isWhole: true)
        // Servers then show nothing, instead of the last numbers for a while.
        log.end(at: boot)
        if !isStoring { finish() }
    }

    private func finish() {
        if !hasEnded {
            hasEnded = true
            storeLog()
            if isStoring { return }
        }
        let end = end
        self.end = nil
        context = nil
        end?()
    }
}

/// What this machine is called.
private enum Machine {
    /// The host's name (gethostname(2)).
    static var name: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "localhost" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The hash of the machine's ID; nil where there is none (machine-id(5)).
    static var id: DeviceID? {
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            let number = open(path, O_RDONLY | O_CLOEXEC)
            guard number >= 0 else { continue }
            let file = OwnedDescriptor(adopting: number)
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(file.number, &bytes, bytes.count)
            guard count > 0 else { continue }
            if let id = DeviceID(machineID: String(decoding: bytes[..<count], as: UTF8.self)) { return id }
        }
        return nil
    }
}
