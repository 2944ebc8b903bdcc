// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// What observers of all links hear of a manager.
struct LinkObserverTests {
    private let lab: ManagerLab
    /// "eth0 online, wlan0 offline", for each report.
    private let log = EventLog<String>()

    init() throws { lab = try ManagerLab() }

    private func observe(_ manager: ReachabilityManager) -> ReachabilityObservation {
        manager.observeLinks { [log] links in
            log.append(
                links.map { "\($0.name) \($0.isOnline ? "online" : "offline")" }.joined(separator: ", "))
        }
    }

    private func addWiFi() {
        lab.kernel.change { network in
            let wlan0 = network.addLink("wlan0")
            network.addAddress("198.51.100.2/24", to: wlan0)
            network.addRoute("0.0.0.0/0", via: "198.51.100.1", on: wlan0, metric: 600)
        }
    }

    @Test("UPL-110 a link that comes or goes beside the path in use is told, without an update of the path")
    func besideThePath() async {
        let manager = lab.manager()
        let updates = EventLog<ReachabilityUpdate>()
        let updating = manager.observeReachability { updates.append($0) }
        let observation = observe(manager)
        manager.startMonitoring()
        #expect(await log.wait(forCount: 1) == ["eth0 online"])
        addWiFi()
        #expect(await log.wait(forCount: 2).last == "eth0 online, wlan0 online")
        lab.kernel.change { $0.setCarrier($0.index("wlan0"), false) }
        #expect(await log.wait(forCount: 3).last == "eth0 online, wlan0 offline")
        // Evaluated again, with the same links.
        await manager.settle()
        #expect(log.elements.count == 3)
        #expect(updates.elements.map(\.event) == [.initial])
        observation.cancel()
        updating.cancel()
    }

    @Test(
        "UPL-110 an observer that comes late gets the links; one that is cancelled, and a stopped manager, tell none"
    )
    func late() async {
        let manager = lab.manager()
        manager.startMonitoring()
        let before = manager.counters.evaluations
        lab.kernel.deliver([.ruleChanged(.ipv4)])
        await manager.settle()
        #expect(log.elements.isEmpty && manager.counters.evaluations > before)
        let observation = observe(manager)
        #expect(await log.wait(forCount: 1) == ["eth0 online"])
        observation.cancel()
        addWiFi()
        await manager.settle()
        #expect(log.elements.count == 1)
        manager.stopMonitoring()
        let other = observe(manager)
        manager.startMonitoring()
        #expect(await log.wait(forCount: 2).last == "eth0 online, wlan0 online")
        other.cancel()
    }

    private func message(
        _ address: String, on interface: Int32, state: UInt16, type: UInt16 = 28, family: UInt8 = 2
    ) -> [UInt8] {
        var request = NetlinkRequest()
        request.begin(type, sequence: 1)
        request.append(UInt32(family))
        request.append(interface)
        request.append(state)
        request.append(UInt16(0))
        if let address = IPAddress(address) { request.attribute(1, address) }
        request.end()
        return request.bytes
    }

    @Test(
        "UPL-111 a neighbour answers, does not, or is not known (RTM_NEWNEIGH)",
        arguments: [
            (0x02, true), (0x01, false), (0x20, false), (0x04, nil), (0x08, nil), (0x10, nil), (0x40, nil),
        ] as [(UInt16, Bool?)])
    func neighbours(_ state: UInt16, _ answers: Bool?) throws {
        var search = NeighborSearch(address: try #require(IPAddress("192.0.2.1")), interface: 3)
        let others =
            message("192.0.2.1", on: 4, state: 0x02) + message("192.0.2.9", on: 3, state: 0x02)
            + message("2001:db8::1", on: 3, state: 0x02, family: 10)
        search.read(others.span.bytes)
        #expect(search.answers == nil && !search.isComplete)
        let own = message("192.0.2.1", on: 3, state: state)
        search.read(own.span.bytes)
        #expect(search.answers == answers && search.isComplete)
    }

    @Test("UPL-111 truncated messages say nothing, and the end of the dump ends the search")
    func hostileNeighbours() throws {
        let whole = message("192.0.2.1", on: 3, state: 0x02)
        for count in 0..<whole.count {
            var search = NeighborSearch(address: try #require(IPAddress("192.0.2.1")), interface: 3)
            let part = Array(whole.prefix(count))
            search.read(part.span.bytes)
            #expect(search.answers == nil)
        }
        var search = NeighborSearch(address: try #require(IPAddress("192.0.2.1")), interface: 3)
        let end = message("192.0.2.1", on: 3, state: 0x02, type: 3)
        search.read(end.span.bytes)
        #expect(search.isComplete && search.answers == nil)
    }

    @Test("UPL-111 the kernel's own table can be asked; nothing is known of an address without a question")
    func realTable() throws {
        #expect(NeighborTable.answers(try #require(IPAddress("192.0.2.77")), on: 1) == nil)
        #expect(NeighborTable.answers(try #require(IPAddress("2001:db8::77")), on: 1) == nil)
    }
}
