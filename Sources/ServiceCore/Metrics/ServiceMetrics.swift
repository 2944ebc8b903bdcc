// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
package import SessionCore

/// The service's numbers at one moment, with their names in Prometheus' text.
package struct ServiceMetrics: Sendable {
    /// The outbox's numbers.
    package struct Outbox: Sendable, Equatable {
        package var depth: UInt64
        package var deadLetters: UInt64
        /// The age of the oldest waiting entry; zero without any.
        package var oldest: Duration
        package var bytes: UInt64

        package init(depth: UInt64, deadLetters: UInt64, oldest: Duration, bytes: UInt64) {
            self.depth = depth
            self.deadLetters = deadLetters
            self.oldest = oldest
            self.bytes = bytes
        }
    }

    /// The outcomes of transfers since the start.
    package struct Transfers: Sendable, Equatable {
        package var succeeded: UInt64 = 0
        package var failed: UInt64 = 0
        package var parked: UInt64 = 0

        package init() {}
    }

    package var version = ""
    package var status = ReachabilityStatus.unknown
    package var isOnline = false
    package var interface = ""
    package var medium = ""
    package var generation: UInt64 = 0
    /// How often each status began.
    package var changes: [ReachabilityStatus: UInt64] = [:]
    package var pathChanges: UInt64 = 0
    package var monitor = MonitorCounters()
    package var turns: UInt64 = 0
    package var hookRuns: UInt64 = 0
    package var hookFailures: UInt64 = 0
    package var hooksSkipped: UInt64 = 0
    package var historySkipped: UInt64 = 0
    package var linesLeftOut: UInt64 = 0
    package var startTime = WallTime(nanoseconds: 0)
    /// Nil without a probe.
    package var internet: InternetState?
    /// What was found behind each uplink; empty without a probe.
    package var uplinks: [UplinkInternet] = []
    /// The links with a path of their own.
    package var links: [LinkReport] = []
    /// Nil where there is no outbox.
    package var outbox: Outbox?
    /// Whether this service delivers the outbox's entries; nil without an outbox.
    package var delivers: Bool?
    /// Nil where nothing is transferred.
    package var transfers: Transfers?

    package init() {}

    /// The complete text for Prometheus.
    package var text: [UInt8] {
        var text = PrometheusText()
        text.write(families)
        return text.bytes
    }

    /// All metrics, in the order of the text.
    package var families: [MetricFamily] {
        var text = MetricFamilies()
        text.begin("reach_build_info", .gauge, "The version that runs; always 1.")
        text.sample("reach_build_info", [("version", version)], .whole(1))
        text.write(
            "reach_start_time_seconds", .gauge, "When the service was started, in seconds since 1970.",
            .seconds(.nanoseconds(startTime.nanoseconds)))
        writeReachability(&text)
        writeMonitor(&text)
        writeParts(&text)
        if let internet {
            text.begin(
                "reach_internet", .gauge, "What a server behind the path answers: 1 for the state that holds."
            )
            for state in InternetState.allCases {
                text.sample("reach_internet", [("state", state.rawValue)], .flag(state == internet))
            }
        }
        if !uplinks.isEmpty {
            text.begin(
                "reach_uplink_internet", .gauge,
                "What a server behind each uplink answers: 1 for the state that holds.")
            for uplink in uplinks {
                for state in InternetState.allCases {
                    text.sample(
                        "reach_uplink_internet",
                        [("interface", uplink.interface), ("state", state.rawValue)],
                        .flag(state == uplink.state))
                }
            }
        }
        if !links.isEmpty {
            text.begin(
                "reach_interface_expensive", .gauge,
                "Whether the traffic of an interface with a path of its own costs; reach_interface_metered says how certain that is."
            )
            for link in links {
                text.sample(
                    "reach_interface_expensive", [("interface", link.name)], .flag(link.isExpensive))
            }
            text.begin(
                "reach_interface_metered", .gauge,
                "Whether the traffic of an interface costs, and how certain that is: 1 for the value that holds."
            )
            for link in links {
                for value in Metered.allCases {
                    text.sample(
                        "reach_interface_metered", [("interface", link.name), ("value", value.rawValue)],
                        .flag(value == link.metered))
                }
            }
            text.begin(
                "reach_interface_roaming", .gauge,
                "Whether the modem of an interface is in the network of another provider.")
            for link in links {
                text.sample(
                    "reach_interface_roaming", [("interface", link.name)], .flag(link.isRoaming))
            }
            text.begin(
                "reach_interface_constrained", .gauge, "Whether data is to be saved on an interface.")
            for link in links {
                text.sample(
                    "reach_interface_constrained", [("interface", link.name)], .flag(link.isConstrained))
            }
        }
        if let transfers {
            text.begin("reach_transfers_total", .counter, "Transfers that ended, by outcome.")
            text.sample("reach_transfers_total", [("outcome", "succeeded")], .whole(transfers.succeeded))
            text.sample("reach_transfers_total", [("outcome", "failed")], .whole(transfers.failed))
            text.write(
                "reach_transfers_parked_total", .counter, "Times a transfer had to wait for another path.",
                .whole(transfers.parked))
        }
        if let delivers {
            text.write(
                "reach_outbox_delivering", .gauge,
                "Whether this service delivers what waits; 0 while another program does, or where it cannot.",
                .flag(delivers))
        }
        if let outbox {
            text.write(
                "reach_outbox_entries", .gauge, "Requests that wait for their delivery.", .whole(outbox.depth)
            )
            text.write(
                "reach_outbox_dead_letters", .gauge, "Requests that were given up and are kept.",
                .whole(outbox.deadLetters))
            text.write(
                "reach_outbox_oldest_age_seconds", .gauge,
                "The age of the oldest request that waits; 0 without any.",
                .seconds(outbox.oldest))
            text.write(
                "reach_outbox_bytes", .gauge, "What the outbox takes on the disk.", .whole(outbox.bytes))
        }
        return text.all
    }

    private func writeReachability(_ text: inout MetricFamilies) {
        text.begin("reach_status", .gauge, "Whether the network can be reached: 1 for the status that holds.")
        for status in ReachabilityStatus.allCases {
            text.sample("reach_status", [("status", status.description)], .flag(status == self.status))
        }
        text.write(
            "reach_online", .gauge, "Whether the path is usable at this moment; 0 at once after a loss.",
            .flag(isOnline))
        text.begin("reach_path_info", .gauge, "The path in use; always 1.")
        text.sample("reach_path_info", [("interface", interface), ("medium", medium)], .whole(1))
        text.write(
            "reach_path_generation", .gauge,
            "Grows when connections made before should not be trusted any more.",
            .whole(generation))
        text.begin("reach_status_changes_total", .counter, "Changes of the status, by what it became.")
        for status in ReachabilityStatus.allCases {
            text.sample(
                "reach_status_changes_total", [("status", status.description)], .whole(changes[status] ?? 0))
        }
        text.write(
            "reach_path_changes_total", .counter, "Changes of the path below the same status.",
            .whole(pathChanges))
    }

    private func writeMonitor(_ text: inout MetricFamilies) {
        text.writeCounters([
            (
                "reach_netlink_events_total", "Events that the kernel sent and the filter let through.",
                monitor.events
            ),
            ("reach_netlink_overruns_total", "Times the kernel had to drop events.", monitor.overruns),
            ("reach_netlink_resyncs_total", "Evaluations because events were lost.", monitor.resyncs),
            (
                "reach_netlink_discarded_total", "Messages that were malformed or not the kernel's.",
                monitor.discarded
            ),
            ("reach_netlink_reopenings_total", "Times a socket had to be opened again.", monitor.reopenings),
            ("reach_evaluations_total", "Times the kernel was asked for the path.", monitor.evaluations),
            ("reach_wakeups_total", "Times the loop woke up.", turns),
        ])
    }

    private func writeParts(_ text: inout MetricFamilies) {
        text.writeCounters([
            ("reach_hook_runs_total", "Programs of the hooks directory that were run.", hookRuns),
            (
                "reach_hook_failures_total", "Hooks that failed, did not end in time, or were refused.",
                hookFailures
            ),
            (
                "reach_hook_changes_skipped_total", "Changes that no hook was told because a newer one came.",
                hooksSkipped
            ),
            (
                "reach_history_changes_skipped_total", "Changes that the disk was too slow to keep.",
                historySkipped
            ),
            ("reach_log_lines_left_out_total", "Lines about changes that were only counted.", linesLeftOut),
        ])
    }
}
