// SPDX-License-Identifier: Apache-2.0

/// Decides which uplinks are asked whether there is internet behind them: an ``InternetProbeStateMachine``
/// for each.
///
/// The preferred uplink is asked by the kernel's own choice of a path, so that tunnels and rules hold; one
/// that stands in for a dead choice, and each other one, over itself. Nothing is asked around a tunnel in
/// use, or while there is no path in use. An expensive uplink that is not in use is asked when the preferred
/// one has failed, with long pauses where those are wanted, or while a client waits for it. Instants are
/// nanoseconds of a monotonic clock.
package struct UplinkProbeStateMachine: ~Copyable, Sendable {
    private struct Record {
        let number: Int
        var uplink: Uplink?
        var machine: InternetProbeStateMachine
        /// Grows when the uplink leads to another network.
        var generation: UInt64 = 1
    }

    private var timing: InternetProbeStateMachine.Timing
    /// Whether something waits for the internet.
    private var isAwaited = false
    private var preferred: Record
    private var others: [Record] = []
    private var network = Network()
    private var count = 1
    private var step = Step()

    package init(timing: InternetProbeStateMachine.Timing = .init()) {
        self.timing = timing
        preferred = Record(number: 0, uplink: nil, machine: InternetProbeStateMachine(timing: timing))
    }

    /// When ``timeCame(at:)`` is to be called; nil for never.
    package var nextDeadline: Int64? {
        ([preferred] + others).compactMap(\.machine.nextDeadline).min()
    }

    /// What is known, the preferred uplink first.
    package var findings: [Finding] {
        [finding(preferred, isPreferred: true)] + others.map { finding($0, isPreferred: false) }
    }

    private func finding(_ record: Record, isPreferred: Bool) -> Finding {
        Finding(
            number: record.number, uplink: record.uplink, isPreferred: isPreferred,
            known: record.machine.known, since: record.machine.since, answers: record.machine.answers)
    }

    /// Whether an answer to a question would count.
    package func isAsking(_ id: QuestionID) -> Bool {
        let record = ([preferred] + others).first { $0.number == id.uplink }
        return record?.machine.isAsking(id.number) == true
    }

    // MARK: Events

    /// The network is like this: in the beginning, and whenever something about it has changed.
    package mutating func networkChanged(_ new: Network, at now: Int64) -> Step {
        network = new
        replacePreferred(now)
        replaceOthers()
        perform(preferred.machine.pathChanged(isUsable: new.isUsable, generation: new.generation, at: now))
        review(now)
        setPauses(now)
        return end()
    }

    /// The pauses are others from now on.
    package mutating func timingChanged(_ new: InternetProbeStateMachine.Timing, at now: Int64) -> Step {
        guard new != timing else { return end() }
        timing = new
        review(now)
        setPauses(now)
        return end()
    }

    /// Whether something waits for the internet: the pauses are short then, but where each question costs.
    package mutating func awaited(_ isAwaited: Bool, at now: Int64) -> Step {
        self.isAwaited = isAwaited
        setPauses(now)
        return end()
    }

    private mutating func setPauses(_ now: Int64) {
        let isCostly = preferred.uplink?.traits.isExpensive == true && timing.expensivePause != nil
        preferred.machine.leastFullPause = isCostly ? timing.expensivePause ?? 0 : 0
        _ = preferred.machine.pausesChanged(timing, isAwaited: isAwaited && !isCostly, at: now)
        for index in others.indices {
            let isCostly = others[index].uplink?.traits.isExpensive == true
            _ = others[index].machine.pausesChanged(timing, isAwaited: isAwaited && !isCostly, at: now)
        }
    }

    /// The answer to a question; one that was abandoned comes too late and changes nothing.
    package mutating func answered(_ answer: InternetAnswer, _ id: QuestionID, at now: Int64) -> Step {
        if id.uplink == preferred.number {
            let hasWorked = preferred.machine.known.state == .full
            perform(preferred.machine.answered(answer, question: id.number, at: now))
            if hasWorked, hasFailed { for index in others.indices { hurry(index) } }
            review(now)
        } else if let index = others.firstIndex(where: { $0.number == id.uplink }) {
            perform(others[index].machine.answered(answer, question: id.number, at: now), at: index)
        }
        return end()
    }

    /// The deadline is there; a timer may fire early, or after it was replaced.
    package mutating func timeCame(at now: Int64) -> Step {
        perform(preferred.machine.timeCame(at: now))
        for index in others.indices { perform(others[index].machine.timeCame(at: now), at: index) }
        return end()
    }

    /// A transfer has failed, or the state is wanted.
    package mutating func hurried() -> Step {
        perform(preferred.machine.hurried())
        for index in others.indices { hurry(index) }
        return end()
    }

    /// The state of one uplink is wanted, by what counts the tries itself.
    package mutating func asked(about name: String) -> Step {
        if preferred.uplink?.name == name {
            perform(preferred.machine.hurried(isNews: false))
        } else if let index = others.firstIndex(where: { $0.uplink?.name == name }) {
            perform(others[index].machine.hurried(isNews: false), at: index)
        }
        return end()
    }

    /// The states are no longer wanted.
    package mutating func stopped(at now: Int64) -> Step {
        for record in others { remove(record) }
        others = []
        perform(preferred.machine.stopped(at: now))
        preferred.uplink = nil
        network = Network()
        return end()
    }

    // MARK: Uplinks that come and go

    private mutating func replacePreferred(_ now: Int64) {
        guard network.preferred?.name != preferred.uplink?.name else {
            preferred.uplink = network.preferred
            return
        }
        let former = preferred
        if let name = network.preferred?.name,
            let index = others.firstIndex(where: { $0.uplink?.name == name })
        {
            preferred = others.remove(at: index)
            preferred.machine.leastPause = 0
            perform(preferred.machine.rerouted(generation: network.generation, at: now))
        } else {
            preferred = record(nil)
        }
        preferred.uplink = network.preferred
        guard let uplink = former.uplink, network.others.contains(where: { $0.name == uplink.name }) else {
            return remove(former)
        }
        others.append(former)
        let index = others.count - 1
        perform(
            others[index].machine.rerouted(generation: former.generation, at: now), at: index)
    }

    private mutating func replaceOthers() {
        var former = others
        others = network.others.map { uplink in
            guard let index = former.firstIndex(where: { $0.uplink?.name == uplink.name }) else {
                return record(uplink)
            }
            var record = former.remove(at: index)
            if record.uplink?.isSame(as: uplink) != true { record.generation += 1 }
            record.uplink = uplink
            return record
        }
        for record in former { remove(record) }
    }

    private mutating func record(_ uplink: Uplink?) -> Record {
        defer { count += 1 }
        return Record(number: count, uplink: uplink, machine: InternetProbeStateMachine(timing: timing))
    }

    // MARK: Which ones are asked

    private var hasFailed: Bool {
        switch preferred.machine.known.state {
        case .limited, .portal: true
        case .unknown, .none, .full: false
        }
    }

    /// Asks the uplinks that are to be asked now, and no others.
    private mutating func review(_ now: Int64) {
        for index in others.indices {
            others[index].machine.leastFullPause = 0
            if let reason = reasonToWithhold(others[index].uplink) {
                perform(others[index].machine.withheld(reason, at: now), at: index)
            } else {
                let isSpared = isExpensive(others[index].uplink) && !hasFailed
                others[index].machine.leastPause = isSpared ? timing.expensivePause ?? 0 : 0
                let generation = others[index].generation
                perform(
                    others[index].machine.pathChanged(isUsable: true, generation: generation, at: now),
                    at: index)
            }
        }
    }

    private func reasonToWithhold(_ uplink: Uplink?) -> String? {
        if !network.isUsable { return "not asked: there is no path in use" }
        if network.isTunnel {
            let name = network.preferred?.name ?? "the path in use"
            return "not asked: \(name) is a tunnel, and nothing goes around it"
        }
        if isExpensive(uplink), timing.expensivePause == nil, !hasFailed {
            return "not asked: its traffic costs"
        }
        return nil
    }

    private func isExpensive(_ uplink: Uplink?) -> Bool {
        uplink.map { $0.traits.isExpensive && !network.wanted.contains($0.name) } ?? false
    }

    private mutating func hurry(_ index: Int) { perform(others[index].machine.hurried(), at: index) }

    // MARK: Steps

    private mutating func perform(_ new: InternetProbeStateMachine.Step) {
        perform(new, of: preferred, bound: network.isAlternative)
    }

    private mutating func perform(_ new: InternetProbeStateMachine.Step, at index: Int) {
        perform(new, of: others[index], bound: true)
    }

    private mutating func perform(
        _ new: InternetProbeStateMachine.Step, of record: Record, bound isBound: Bool
    ) {
        if new.abandons { abandon(record) }
        guard let number = new.question else { return }
        step.questions.append(
            Question(
                id: QuestionID(uplink: record.number, number: number),
                interface: isBound ? record.uplink?.name : nil))
    }

    private mutating func remove(_ record: Record) {
        if record.machine.isAsking { abandon(record) }
    }

    private mutating func abandon(_ record: Record) {
        step.abandoned.append(record.number)
        step.questions.removeAll { $0.id.uplink == record.number }
    }

    private mutating func end() -> Step {
        defer { step = Step() }
        return step
    }
}
