// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import ServiceCore

/// Runs the programs of the hooks directory for each file that was fetched, one at a time, and none left out.
///
/// Apart from ``HookRunner``, which leaves out changes that newer ones replace: a program that installs an
/// update must not hold up those that follow the network.
package final class FetchHooks: ServiceComponent {
    package let name = "fetch hooks"
    private var settings: ServiceConfiguration.Hooks
    private let files: Reactor
    private let counters: ServiceCounters
    private var context: ServiceContext?
    private var process: HookProcess?
    private var end: (() -> Void)?
    private var isStopped = false
    /// The files of which the programs have not been told; the first is being told.
    private var waiting: [(event: FetchedEvent, done: (Bool) -> Void)] = []
    private var isRunning = false

    /// How long a running program has when the service ends.
    private static let stopPatience: Int64 = 1_000_000_000

    package init(_ settings: ServiceConfiguration.Hooks, files: Reactor, counters: ServiceCounters) {
        self.settings = settings
        self.files = files
        self.counters = counters
    }

    package func start(_ context: ServiceContext) throws(ServiceError) { self.context = context }
    package func reload(_ configuration: ServiceConfiguration) { settings = configuration.hooks }

    package var stateLine: String? { "\(waiting.count) fetched files to be told of" }

    /// Runs the programs for a file.
    ///
    /// `done` is called with whether each has run, whatever its result; false if the service ends before.
    package func run(_ event: FetchedEvent, _ done: @escaping (Bool) -> Void = { _ in }) {
        guard context != nil, !isStopped else { return done(false) }
        guard !settings.directory.isEmpty else { return done(true) }
        waiting.append((event, done))
        next()
    }

    private func next() {
        guard !isRunning, let context, let first = waiting.first else { return }
        isRunning = true
        let (path, bound, event) = (settings.directory, LoopBound(self, to: context.reactor), first.event)
        files.perform {
            let listing = HookDirectory(path)
            bound.perform { hooks in
                for refusal in listing.refusals { hooks.context?.log(.warning, "hooks: \(refusal)") }
                let names = listing.names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                hooks.run(names[...], listing, event)
            }
        }
    }

    private func run(_ names: ArraySlice<String>, _ directory: HookDirectory, _ event: FetchedEvent) {
        guard let context, !isStopped else { return finish() }
        guard let name = names.first, let number = directory.number else { return finished(true) }
        counters.hookRuns += 1
        do throws(ReactorError) {
            process = try HookProcess(
                name, in: number, event.input, limit: Int(settings.output), timeout: settings.timeout,
                reactor: context.reactor,
                line: { [weak self] line in self?.context?.log(.info, "hook \(name): \(line)") },
                ended: { [weak self] end in
                    self?.process = nil
                    self?.report(name, end)
                    self?.run(names.dropFirst(), directory, event)
                })
        } catch {
            fail("hook \(name) cannot be run: \(error)")
            run(names.dropFirst(), directory, event)
        }
    }

    private func report(_ name: String, _ end: HookEnd) {
        if let sentence = end.fault(of: name, settings.timeout) { fail(sentence) }
    }

    private func fail(_ sentence: String) {
        counters.hookFailures += 1
        context?.log(.warning, sentence)
    }

    private func finished(_ isReported: Bool) {
        isRunning = false
        let first = waiting.removeFirst()
        first.done(isReported)
        next()
    }

    package func stop(_ done: @escaping () -> Void) {
        isStopped = true
        end = done
        if let process { process.terminate(patience: Self.stopPatience) } else { finish() }
    }

    /// The service ends: what was not told is told by the next one.
    private func finish() {
        guard let end, process == nil else { return }
        self.end = nil
        let left = waiting
        waiting = []
        for file in left { file.done(false) }
        context = nil
        end()
    }
}

extension HookEnd {
    /// What went wrong with a hook, in a sentence; nil if nothing did.
    func fault(of name: String, _ timeout: Duration) -> String? {
        switch self {
        case .exited(0): nil
        case .exited(let code): "hook \(name) failed with exit code \(code)"
        case .killed(let signal): "hook \(name) was ended by signal \(signal)"
        case .timedOut:
            "hook \(name) did not end within \(DurationText.text(timeout)) and was killed"
        case .unknown: "hook \(name) has ended, and its exit code is not known"
        }
    }
}
