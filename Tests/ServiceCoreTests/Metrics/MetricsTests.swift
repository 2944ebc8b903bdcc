// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import SessionCore
import Testing

@Suite("Metrics: their text, and who may fetch it")
struct MetricsTests {
    @Test("every metric has its help and its type, once and before its samples")
    func format() {
        var metrics = ServiceMetrics()
        metrics.version = "1\"2\\3\n4"
        metrics.status = .wifi
        metrics.isOnline = true
        metrics.interface = "wlan0"
        metrics.medium = "wifi"
        metrics.changes = [.wifi: 3]
        metrics.internet = .portal
        metrics.transfers = ServiceMetrics.Transfers()
        metrics.delivers = false
        metrics.outbox = ServiceMetrics.Outbox(
            depth: 7, deadLetters: 1, oldest: .milliseconds(61_250), bytes: 4096)
        let text = String(decoding: metrics.text, as: UTF8.self)
        var known: Set<Substring> = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("# HELP ") {
                #expect(known.insert(words[2]).inserted, "\(line)")
                #expect(line.hasSuffix("."), "\(line)")
            } else if line.hasPrefix("# TYPE ") {
                #expect(known.contains(words[2]))
                #expect((words[3] == "counter") == words[2].hasSuffix("_total"), "\(line)")
            } else {
                #expect(known.contains(line.prefix { $0 != "{" && $0 != " " }), "\(line)")
            }
        }
        #expect(text.contains("\nreach_build_info{version=\"1\\\"2\\\\3\\n4\"} 1\n"))
        #expect(text.contains("\nreach_status{status=\"wifi\"} 1\n"))
        #expect(text.contains("\nreach_status{status=\"wired\"} 0\n"))
        #expect(text.contains("\nreach_status_changes_total{status=\"wifi\"} 3\n"))
        #expect(text.contains("\nreach_path_info{interface=\"wlan0\",medium=\"wifi\"} 1\n"))
        #expect(text.contains("\nreach_internet{state=\"portal\"} 1\n"))
        #expect(text.contains("\nreach_outbox_oldest_age_seconds 61.250\n"))
        #expect(text.contains("\nreach_outbox_entries 7\n"))
        #expect(text.contains("\nreach_outbox_delivering 0\n"))
    }

    @Test("UPL-247 a gauge for each interface says whether its traffic costs")
    func cost() {
        var metrics = ServiceMetrics()
        func link(_ name: String, _ cost: NetworkCost) -> LinkReport {
            LinkReport(
                name: name, index: 1, medium: .ethernet, isOnline: true,
                reason: ReachabilityReason(.defaultRoute, sentence: ""), cost: cost)
        }
        #expect(!String(decoding: metrics.text, as: UTF8.self).contains("reach_interface_expensive"))
        metrics.links = [link("eth0", NetworkCost(.guessNo)), link("ppp0", NetworkCost(isRoaming: true))]
        let text = String(decoding: metrics.text, as: UTF8.self)
        #expect(text.contains("\nreach_interface_expensive{interface=\"eth0\"} 0\n"))
        #expect(text.contains("\nreach_interface_expensive{interface=\"ppp0\"} 1\n"))
    }

    @Test("UPL-443 Gauges say how certain a cost is, in series that stay the same when it changes")
    func metered() {
        func text(_ cost: NetworkCost) -> String {
            var metrics = ServiceMetrics()
            metrics.links = [
                LinkReport(
                    name: "wwan0", index: 1, medium: .cellular, isOnline: true,
                    reason: ReachabilityReason(.defaultRoute, sentence: ""), cost: cost)
            ]
            return String(decoding: metrics.text, as: UTF8.self)
        }
        let cheap = text(NetworkCost(.guessNo))
        let dear = text(NetworkCost(.yes, isRoaming: true, isConstrained: true))
        for value in Metered.allCases {
            let series = "\nreach_interface_metered{interface=\"wwan0\",value=\"\(value.rawValue)\"} "
            #expect(cheap.contains(series + (value == .guessNo ? "1\n" : "0\n")))
            #expect(dear.contains(series + (value == .yes ? "1\n" : "0\n")))
        }
        for name in ["expensive", "roaming", "constrained"] {
            #expect(cheap.contains("\nreach_interface_\(name){interface=\"wwan0\"} 0\n"))
            #expect(dear.contains("\nreach_interface_\(name){interface=\"wwan0\"} 1\n"))
        }
    }

    @Test("escape sequences in a name do not reach the terminal")
    func hostileName() {
        var metrics = ServiceMetrics()
        metrics.interface = "w\u{1B}[31m\u{202E}\"\\"
        let text = String(decoding: metrics.text, as: UTF8.self)
        #expect(
            text.contains("reach_path_info{interface=\"w\u{FFFD}[31m\u{FFFD}\\\"\\\\\",medium"), "\(text)")
    }

    @Test("missing components have no metrics")
    func absent() {
        let text = String(decoding: ServiceMetrics().text, as: UTF8.self)
        for name in ["reach_outbox", "reach_transfers", "reach_internet"] { #expect(!text.contains(name)) }
    }

    @Test(
        "requests",
        arguments: [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", .metrics(isHead: false)),
            ("GET /metrics?a=b HTTP/1.0\n\n", .metrics(isHead: false)),
            ("HEAD /metrics HTTP/1.0\r\n\r\n", .metrics(isHead: true)),
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n", .incomplete), ("", .incomplete),
            ("GET / HTTP/1.0\r\n\r\n", .refused(status: 404, phrase: "Not Found")),
            ("GET /metrics/x HTTP/1.0\r\n\r\n", .refused(status: 404, phrase: "Not Found")),
            ("POST /metrics HTTP/1.0\r\n\r\n", .refused(status: 405, phrase: "Method Not Allowed")),
            ("GET  /metrics HTTP/1.1\r\n\r\n", .refused(status: 400, phrase: "Bad Request")),
            ("GET /metrics\r\n\r\n", .refused(status: 400, phrase: "Bad Request")),
            ("\u{16}\u{3}\u{1}\n\n", .refused(status: 400, phrase: "Bad Request")),
        ] as [(String, MetricsRequest)])
    func requests(text: String, expected: MetricsRequest) {
        #expect(MetricsRequest(Array(text.utf8)) == expected)
    }

    @Test(
        "FLD-074 requests in absolute form are answered; without the one Host, or with blanks before a colon, they are refused",
        arguments: [
            ("GET http://device:9464/metrics HTTP/1.1\r\nHost: device:9464\r\n\r\n", .metrics(isHead: false)),
            ("HEAD HTTP://[::1]/metrics?a=b HTTP/1.1\r\nHost: [::1]\r\n\r\n", .metrics(isHead: true)),
            ("GET https://device/metrics HTTP/1.0\r\n\r\n", .metrics(isHead: false)),
            ("GET /metrics HTTP/1.1\r\nHost:\r\nX-Y: a:b\r\n\r\n", .metrics(isHead: false)),
            ("GET http://device HTTP/1.1\r\nHost: x\r\n\r\n", .refused(status: 404, phrase: "Not Found")),
            ("GET http://device?/metrics HTTP/1.0\n\n", .refused(status: 404, phrase: "Not Found")),
            ("POST http://device/metrics HTTP/1.0\n\n", .refused(status: 405, phrase: "Method Not Allowed")),
            ("GET http:///metrics HTTP/1.1\r\nHost: x\r\n\r\n", .refused(status: 400, phrase: "Bad Request")),
            ("GET metrics HTTP/1.1\r\nHost: x\r\n\r\n", .refused(status: 400, phrase: "Bad Request")),
            ("GET /metrics HTTP/1.1\r\n\r\n", .refused(status: 400, phrase: "Bad Request")),
            (
                "GET /metrics HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n",
                .refused(status: 400, phrase: "Bad Request")
            ),
            ("GET /metrics HTTP/1.1\r\nHost: a, b\r\n\r\n", .refused(status: 400, phrase: "Bad Request")),
            ("GET /metrics HTTP/1.1\r\nHost : a\r\n\r\n", .refused(status: 400, phrase: "Bad Request")),
            (
                "GET /metrics HTTP/1.1\r\nHost: a\r\nX\t: b\r\n\r\n",
                .refused(status: 400, phrase: "Bad Request")
            ),
            (
                "GET /metrics HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
                .refused(status: 400, phrase: "Bad Request")
            ),
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", .refused(status: 400, phrase: "Bad Request")),
            (
                "GET /metrics HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
                .refused(status: 400, phrase: "Bad Request")
            ),
        ] as [(String, MetricsRequest)])
    func strictRequests(text: String, expected: MetricsRequest) {
        #expect(MetricsRequest(Array(text.utf8)) == expected)
    }

    @Test("a header without an end is refused when it is too long")
    func endless() {
        let line = "GET /metrics HTTP/1.1\r\nX: "
        let endless = Array(line.utf8) + [UInt8](repeating: 65, count: MetricsRequest.limit)
        #expect(MetricsRequest(endless) == .refused(status: 431, phrase: "Request Header Fields Too Large"))
        #expect(MetricsRequest(Array(endless.prefix(MetricsRequest.limit - 1))) == .incomplete)
    }

    @Test("answers tell their length and close")
    func answers() {
        let get = String(
            decoding: MetricsRequest.metrics(isHead: false).response { Array("a 1\n".utf8) }, as: UTF8.self)
        #expect(get.hasPrefix("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n"))
        #expect(get.hasSuffix("\r\n\r\na 1\n"))
        let head = String(
            decoding: MetricsRequest.metrics(isHead: true).response { Array("a 1\n".utf8) }, as: UTF8.self)
        #expect(head.contains("Content-Length: 4\r\n"))
        #expect(head.hasSuffix("\r\n\r\n"))
        var asked = 0
        _ = MetricsRequest.refused(status: 404, phrase: "Not Found").response {
            asked += 1
            return []
        }
        #expect(asked == 0)
    }
}
