// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Drives a reachability state machine along a line of marbles on a manual clock, and draws its output.
///
/// Each character is a step of ``step`` (default 100 ms): `e` a wired path begins, `w` a Wi-Fi path, `x`
/// none; `-` nothing happens; a capital letter begins a path without an event of the kernel. The output has a
/// character for each step: the letter for a status, `·` for a path update without one, `-` for nothing.
package struct Marbles {
    package var timing = ReachabilityTiming()
    package var step: Duration = .milliseconds(100)
    /// The limitations of the kernel's events.
    package var limitations: MonitorLimitations = []
    /// Evaluations made so far.
    package private(set) var evaluations = 0
    /// All updates in order.
    package private(set) var updates: [ReachabilityUpdate] = []

    package init() {}

    /// The output for a line of input.
    package mutating func run(_ line: String) -> String {
        var machine = ReachabilityStateMachine(timing: timing)
        var now = MonotonicInstant(nanoseconds: 1_000_000_000)
        var path = Self.path("x")
        var output = ""
        machine.started()
        machine.limited(by: limitations)
        for (position, letter) in line.enumerated() {
            let marble = Character(letter.lowercased())
            let isSilent = letter != marble
            var shown: Character = "-"
            func collect(_ action: ReachabilityStateMachine.EvaluationAction) {
                guard case .publish(let update) = action else { return }
                updates.append(update)
                switch update.event {
                case .initial, .status: shown = Self.letter(update.status)
                case .path: if shown == "-" { shown = "·" }
                }
            }
            if marble != "-" {
                if marble == "x", path.isOnline { lost += 1 }
                path = Self.path(marble)
                path.carrierDownCount = lost
                let added = Self.everything.map { NetworkEvent.routeAdded($0, through: 2) }
                let event = added ?? .requested
                if position == 0 || !isSilent && machine.observed(event, at: now) == .evaluate {
                    evaluations += 1
                    collect(machine.evaluated(path, at: now))
                }
            }
            let end = now + step
            while let deadline = machine.nextDeadline, deadline < end {
                if case .evaluate = machine.deadlineReached(at: max(deadline, now)) {
                    evaluations += 1
                    collect(machine.evaluated(path, at: max(deadline, now)))
                }
            }
            now = end
            output.append(shown)
        }
        return output
    }

    private var lost: UInt32 = 0
    private static let everything = IPPrefix("0.0.0.0/0")

    /// A canned path for a letter.
    package static func path(_ letter: Character) -> ReachabilityPath {
        switch letter {
        case "e": FakeNetwork.wired.evaluate(.general)
        case "w":
            {
                var network = FakeNetwork.wiredAndWiFi
                network.removeRoutes("0.0.0.0/0", metric: 100)
                return network.evaluate(.general)
            }()
        default: FakeNetwork().evaluate(.general)
        }
    }

    private static func letter(_ status: ReachabilityStatus) -> Character {
        switch status {
        case .wired: "e"
        case .wifi: "w"
        case .unreachable: "x"
        case .unknown: "?"
        }
    }
}
