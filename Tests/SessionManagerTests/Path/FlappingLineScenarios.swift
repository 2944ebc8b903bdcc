// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Lines that die one after the other, come back, or die together.
@Suite(
    "Several lines behind the routers",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct FlappingLineScenarios {
    @Test(
        "UPL-300 While a line comes and goes every 2 s all requests complete, none twice, and traffic turns rarely"
    )
    func alternating() async throws {
        let paths = try await TwoPaths(size: 2 << 20, rate: 256 << 10)
        let client = LineClient(paths)
        let download = try client.download(client.request("/blob"))
        try await paths.wait { $0.contains { $0.event == "sending" } }
        let line = try await paths.alternateLine(times: 3)
        var tasks: [SessionTask] = []
        for await _ in line.lines {
            // One that may be sent twice, and one that must not; each over a connection of its own.
            let number = tasks.count
            var request = try client.request("/quick?\(number)", number.isMultiple(of: 2) ? .put : .post)
            request.headerFields[.connection] = "close"
            tasks.append(try client.start(request))
        }
        #expect(try await line.status() == .exited(0), "\(line.standardError)")
        #expect(tasks.count > 50)
        var lost = 0
        for (number, task) in tasks.enumerated() {
            let error = await task.outcome().error
            let arrived = try await paths.events.peers(of: "/quick", query: "\(number)").count
            if number.isMultiple(of: 2) {
                #expect(error == nil)
                #expect(arrived >= 1)
            } else if error == nil {
                #expect(arrived == 1)
            } else {
                // Sent in the instant of a death: it may have been carried out, and is not repeated.
                #expect(error?.message.contains("the outcome is unknown") == true, "\(error as Any)")
                #expect(arrived <= 1)
                lost += 1
            }
        }
        #expect(lost <= 3)
        #expect(try await client.end(of: download) == nil)
        let peers = try await paths.events.peers(of: "/quick")
        let turns = zip(peers, peers.dropFirst()).count { $0 != $1 }
        #expect(peers.contains(TwoPaths.secondAddress))
        #expect(turns <= 2, "\(peers)")
    }

    @Test(
        "UPL-434 When the line is back a running download returns to it where it is to go over to better paths",
        .timeLimit(.minutes(10)), arguments: [BetterPathPolicy.move, .stay])
    func movesBack(_ policy: BetterPathPolicy) async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let client = LineClient(paths, betterPath: policy)
        try await paths.killLine()
        #expect(try await client.fetch("/quick?detour").error == nil)
        let download = try await client.stalledDownload()
        try await paths.reviveLine()
        if policy == .move {
            #expect(try await client.end(of: download) == nil)
        } else {
            // Traffic has returned when a new request has.
            var count = 0
            while try await paths.events.peers(of: "/quick").last != "10.1.0.2", count < 1_000 {
                count += 1
                #expect(try await client.fetch("/quick?\(count)").error == nil)
                // No event tells that traffic has returned: each request asks.
                try await Task.sleep(for: .milliseconds(50))
            }
            paths.release()
            #expect(try await client.end(of: download) == nil)
        }
        let peers = try await paths.events.peers(of: "/blob")
        #expect(peers == (policy == .move ? ["10.2.0.2", "10.1.0.2"] : ["10.2.0.2"]))
    }

    @Test("UPL-301 Of three uplinks the next one that works is used, also one that has come back")
    func three() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        try await paths.addThirdPath()
        let client = LineClient(paths)
        let download = try client.download(client.request("/blob?stall=65536&times=3"))
        try await paths.waitForStalls()
        try await paths.killLine("pa")
        try await paths.waitForStalls(2)
        // The second one dies as well, and the third one is left.
        try await paths.killLine("pb")
        try await paths.waitForStalls(3)
        #expect(try await client.fetch("/quick?third").error == nil)
        // The second one is back when the third one dies.
        try await paths.reviveLine("pb")
        try await paths.killLine("pc")
        #expect(try await client.end(of: download) == nil)
        #expect(try await client.fetch("/quick?second").error == nil)
        let events = try await paths.events
        #expect(events.peers(of: "/blob") == ["10.1.0.2", "10.2.0.2", "10.3.0.2", "10.2.0.2"])
        #expect(events.peers(of: "/quick") == ["10.3.0.2", "10.2.0.2"])
    }

    @Test("UPL-302 Two uplinks of one router whose line is dead: nothing moves, and all goes on afterwards")
    func oneRouter() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        try await paths.joinRouters()
        let client = LineClient(paths)
        let parked = EventLog<String>()
        client.manager.eventMonitors.append(
            EventMonitor { if case .parked(let why) = $1 { parked.append(why) } })
        let download = try client.download(client.request("/blob?stall=65536"))
        try await paths.waitForStalls()
        try await paths.killLine("br0")
        let post = try client.start(client.request("/quick", .post))
        // The server is tried there: a question for the router, a SYN, and the SYN again.
        try await paths.wait(forPackets: 3, through: TwoPaths.second)
        // The connection that was is kept, and nothing has another one.
        #expect(try await paths.hasConnection(from: "10.1.0.2"))
        #expect(try await !paths.hasConnection(from: "10.1.0.3"))
        #expect(post.state == .running && parked.elements.isEmpty)
        try await paths.reviveLine("br0")
        paths.release()
        #expect(await post.outcome().error == nil)
        #expect(try await client.end(of: download) == nil)
        #expect(try await paths.events.peers(of: "/quick").count == 1)
        #expect(try await paths.events.peers(of: "/blob").count <= 2)
    }
}
