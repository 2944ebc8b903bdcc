// SPDX-License-Identifier: Apache-2.0

/// What happens to the two paths, or to the server behind both.
enum SoakFault: String, CaseIterable {
    case firstLinkDown, secondLinkDown, bothLinksDown
    case firstCarrierLost, secondCarrierLost, bothCarriersLost
    case firstAddressRemoved, secondAddressRemoved
    case firstRouteDeleted, secondRouteDeleted, bothRoutesDeleted
    case routeReplaced, metricsSwapped
    case firstSwallowsAnswers, secondSwallowsAnswers, firstSwallowsRequests, bothSwallow
    case connectionsReset, serverRestarted, serverStalls
    case namesFail

    /// What `ip` is told on this side and on the far side.
    var begin: (near: [String], far: [String]) {
        switch self {
        case .firstLinkDown: (["link set a0 down"], [])
        case .secondLinkDown: (["link set b0 down"], [])
        case .bothLinksDown: (["link set a0 down", "link set b0 down"], [])
        case .firstCarrierLost: ([], ["link set pa down"])
        case .secondCarrierLost: ([], ["link set pb down"])
        case .bothCarriersLost: ([], ["link set pb down", "link set pa down"])
        case .firstAddressRemoved: (["addr del 10.1.0.2/24 dev a0"], [])
        case .secondAddressRemoved: (["addr del 10.2.0.2/24 dev b0"], [])
        case .firstRouteDeleted: (["route del default via 10.1.0.1 dev a0"], [])
        case .secondRouteDeleted: (["route del default via 10.2.0.1 dev b0"], [])
        case .bothRoutesDeleted:
            (["route del default via 10.1.0.1 dev a0", "route del default via 10.2.0.1 dev b0"], [])
        case .routeReplaced: (["route replace default via 10.2.0.1 dev b0 metric 100"], [])
        case .metricsSwapped: (["route add default via 10.2.0.1 dev b0 metric 50"], [])
        // The server hears, and its words find no way back; then the other way round.
        case .firstSwallowsAnswers: ([], ["route add blackhole 10.1.0.2"])
        case .secondSwallowsAnswers: ([], ["route add blackhole 10.2.0.2"])
        case .firstSwallowsRequests: (["neigh replace 10.1.0.1 lladdr 02:00:00:00:00:99 dev a0"], [])
        case .bothSwallow: ([], ["route add blackhole 10.1.0.2", "route add blackhole 10.2.0.2"])
        case .connectionsReset, .serverRestarted, .serverStalls, .namesFail: ([], [])
        }
    }

    /// What has to be undone on the way back; all the rest is put right each time.
    var end: (near: [String], far: [String]) {
        switch self {
        case .routeReplaced: (["route del default via 10.2.0.1 dev b0 metric 100"], [])
        case .metricsSwapped: (["route del default via 10.2.0.1 dev b0 metric 50"], [])
        case .firstSwallowsAnswers: ([], ["route del blackhole 10.1.0.2"])
        case .secondSwallowsAnswers: ([], ["route del blackhole 10.2.0.2"])
        case .firstSwallowsRequests: (["neigh del 10.1.0.1 dev a0"], [])
        case .bothSwallow: ([], ["route del blackhole 10.1.0.2", "route del blackhole 10.2.0.2"])
        case .firstCarrierLost: ([], ["link set pa up"])
        case .secondCarrierLost: ([], ["link set pb up"])
        case .bothCarriersLost: ([], ["link set pa up", "link set pb up"])
        case .firstLinkDown, .firstAddressRemoved, .firstRouteDeleted: (Self.first, [])
        case .secondLinkDown, .secondAddressRemoved, .secondRouteDeleted: (Self.second, [])
        case .bothLinksDown, .bothRoutesDeleted: (Self.second + Self.first, [])
        case .connectionsReset, .serverRestarted, .serverStalls, .namesFail: ([], [])
        }
    }

    /// The paths as they are where nothing is wrong.
    static let first = [
        "link set a0 up", "addr replace 10.1.0.2/24 dev a0",
        "route replace default via 10.1.0.1 dev a0 metric 100",
    ]
    static let second = [
        "link set b0 up", "addr replace 10.2.0.2/24 dev b0",
        "route replace default via 10.2.0.1 dev b0 metric 200",
    ]
}
