// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Lines that carry one direction alone, or one family of addresses alone.
@Suite(
    "Half of the line behind the router",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct OneWayLineScenarios {
    static let directions: [TwoPaths.Direction] = [.toServer, .fromServer]

    @Test("UPL-303 New requests leave a line that carries one direction alone", arguments: directions)
    func connect(_ direction: TwoPaths.Direction) async throws {
        let paths = try await TwoPaths()
        try await paths.killLine("pa", direction)
        let client = LineClient(paths)
        // Whatever may not be sent twice has not left before there is a connection.
        let tasks = try [HTTPRequest.Method.get, .post, .put, .post].enumerated().map {
            try client.start(client.request("/quick?\($0)", $1))
        }
        for task in tasks { #expect(await task.outcome().error == nil) }
        let requests = try await paths.requests(4)
        #expect(requests.map(\.peer) == Array(repeating: TwoPaths.secondAddress, count: 4))
        #expect(Set(requests.map(\.query)).count == 4)
    }

    @Test(
        "UPL-304 A POST whose answer does not come through is not sent again, and what may be is",
        arguments: [HTTPRequest.Method.post, .put])
    func answer(_ method: HTTPRequest.Method) async throws {
        let paths = try await TwoPaths()
        let client = LineClient(paths)
        #expect(try await client.fetch("/quick?first").error == nil)
        try await paths.killLine("pa", .fromServer)
        let error = await (try client.start(client.request("/quick?sent", method))).outcome().error
        if method == .post {
            #expect(error?.code == .networkConnectionLost)
            #expect(error?.message.contains("the outcome is unknown") == true)
        } else {
            #expect(error == nil)
        }
        #expect(try await client.fetch("/quick?last").error == nil)
        let events = try await paths.events
        #expect(
            events.peers(of: "/quick", query: "sent")
                == (method == .post ? ["10.1.0.2"] : ["10.1.0.2", TwoPaths.secondAddress]))
        #expect(events.peers(of: "/quick", query: "last") == [TwoPaths.secondAddress])
    }

    @Test(
        "UPL-305 An upload whose server is slow leaves a line that dies in one direction",
        arguments: directions)
    func upload(_ direction: TwoPaths.Direction) async throws {
        let paths = try await TwoPaths()
        let client = LineClient(paths)
        var request = try client.request("/sink?stall=65536", .put)
        request.body = .data(Data(repeating: 7, count: 4 << 20))
        let upload = try client.start(request)
        // The rest waits for room at the server: window probes show what becomes of the line.
        try await paths.waitForStalls()
        try await paths.killLine("pa", direction)
        #expect(await upload.outcome().error == nil)
        #expect(try await paths.events.peers(of: "/sink") == ["10.1.0.2", TwoPaths.secondAddress])
    }

    @Test(
        "UPL-306 Where one family's line is dead, a new request takes the other family over the same uplink",
        arguments: TwoPaths.Family.allCases)
    func connectByFamily(_ dead: TwoPaths.Family) async throws {
        let paths = try await TwoPaths(isDual: true)
        try await paths.killLine("pa", family: dead)
        let client = LineClient(paths, addresses: paths.dualAddresses(dead))
        #expect(try await client.fetch("/quick?post", .post).error == nil)
        #expect(try await client.fetch("/quick?get").error == nil)
        let good = dead == .ipv6 ? "10.1.0.2" : "2001:db8:1::2"
        #expect(try await paths.events.peers(of: "/quick") == [good, good])
    }

    @Test(
        "UPL-307 A download goes on over another family or uplink when the line of its family dies",
        arguments: TwoPaths.Family.allCases, ["pa", "pa pb"])
    func downloadByFamily(_ dead: TwoPaths.Family, _ routers: String) async throws {
        let paths = try await TwoPaths(size: 1 << 20, isDual: true)
        let client = LineClient(paths, addresses: paths.dualAddresses(dead))
        let download = try client.download(client.request("/blob?stall=65536"))
        try await paths.waitForStalls()
        for router in routers.split(separator: " ") {
            try await paths.killLine(String(router), family: dead)
        }
        #expect(try await client.end(of: download) == nil)
        let peers = try await paths.events.peers(of: "/blob")
        let first = dead == .ipv6 ? "2001:db8:1::2" : "10.1.0.2"
        #expect(peers.first == first)
        #expect(peers.count == 2 && peers.last != first, "\(peers)")
        #expect(try await client.fetch("/quick").error == nil)
    }
}
