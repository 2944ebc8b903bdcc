// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

/// Everything that can make an evaluation worthwhile: rtnetlink and nl80211, and the end of a sleep.
final class KernelEventSource: EventSource {
    private let route: NetlinkSource
    private let resume: ResumeDetector

    init(route: NetlinkSource, resume: ResumeDetector) {
        self.route = route
        self.resume = resume
    }

    var discarded: UInt64 { route.discarded }
    var limitations: MonitorLimitations { route.limitations }

    func start(deliver: @escaping ([NetworkEvent]) -> Void) throws(ReachabilityError) {
        try route.start(deliver: deliver)
        // Without a timer descriptor the sleep goes unnoticed, and the safety re-check finds what it changed.
        try? resume.start { deliver([$0]) }
    }

    func stop() {
        route.stop()
        resume.stop()
    }

    func watch(_ destinations: [IPAddress]) { route.watch(destinations) }
}
