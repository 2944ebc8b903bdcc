// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachabilityCore
import ServiceCore
import SessionCore
import TestSupport
import Testing

@Suite("Telemetry: OTLP and remote write")
struct TelemetryEncodingTests {
    private let device = """
        {"attributes":[{"key":"service.name","value":{"stringValue":"reach"}},\
        {"key":"service.version","value":{"stringValue":"1.2.3"}},\
        {"key":"host.name","value":{"stringValue":"meter-7"}},\
        {"key":"host.id","value":{"stringValue":"\(TelemetryResource.device.id?.description ?? "")"}},\
        {"key":"service.instance.id","value":{"stringValue":"\(TelemetryResource.device.id?.description ?? "")"}}]}
        """

    // Google's parser reads these documents with the messages of opentelemetry-proto 1.45.2, and knows every
    // field (json_format.Parse of ExportMetricsServiceRequest and ExportLogsServiceRequest).
    @Test("OBX-100 metrics in OTLP's JSON: sums since the start, gauges, units, and series that end")
    func metrics() throws {
        var line = TextLine()
        OTLPWriter.writeMetrics(TelemetryLog.sampled().batch, .device, to: &line)
        let (first, second) = ("1767312000000000000", "1767312060000000000")
        let start = #""startTimeUnixNano":"1767311990000000000""#
        #expect(
            line.text == """
                {"resourceMetrics":[{"resource":\(device),"scopeMetrics":[{"scope":{"name":"reach","version":"1.2.3"},"metrics":[\
                {"name":"reach_wakeups_total","unit":"1","sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[\
                {"attributes":[],\(start),"timeUnixNano":"\(first)","asInt":"7"},\
                {"attributes":[],\(start),"timeUnixNano":"\(second)","asInt":"67"}]}},\
                {"name":"reach_outbox_oldest_age_seconds","unit":"s","gauge":{"dataPoints":[\
                {"attributes":[],"timeUnixNano":"\(first)","asDouble":1.250},\
                {"attributes":[],"timeUnixNano":"\(second)","asDouble":1.250}]}},\
                {"name":"reach_interface_expensive","gauge":{"dataPoints":[\
                {"attributes":[{"key":"interface","value":{"stringValue":"eth0"}}],"timeUnixNano":"\(first)","asInt":"0"},\
                {"attributes":[{"key":"interface","value":{"stringValue":"eth0"}}],"timeUnixNano":"\(second)","asInt":"0"},\
                {"attributes":[{"key":"interface","value":{"stringValue":"wwan0"}}],"timeUnixNano":"\(first)","asInt":"1"},\
                {"attributes":[{"key":"interface","value":{"stringValue":"wwan0"}}],"timeUnixNano":"\(second)","flags":1}]}}\
                ]}]}]}
                """)
        _ = try JSONValue(parsing: Data(line.bytes))
    }

    @Test("OBX-101 changes in OTLP's JSON: one log record each, with its time, severity and reason")
    func logs() throws {
        var log = TelemetryLog.sampled()
        let record = HistoryRecord(
            .limited, behind: "wwan0", reason: "no answer in 10 s", wall: .at(0),
            boot: TelemetryLog.second(45))
        _ = log.add(TelemetryChange(internet: record))
        var line = TextLine()
        OTLPWriter.writeLogs(log.batch, .device, to: &line)
        #expect(
            line.text == """
                {"resourceLogs":[{"resource":\(device),"scopeLogs":[{"scope":{"name":"reach","version":"1.2.3"},"logRecords":[\
                {"timeUnixNano":"1767312030000000000","observedTimeUnixNano":"1767312030000000000","severityNumber":13,"severityText":"WARN",\
                "eventName":"reach.status","body":{"stringValue":"status unreachable, was wired: no \\"carrier\\" (generation 31)"},"attributes":[\
                {"key":"reach.status","value":{"stringValue":"unreachable"}},{"key":"reach.previous","value":{"stringValue":"wired"}},\
                {"key":"reach.online","value":{"stringValue":"false"}},{"key":"reach.medium","value":{"stringValue":"ethernet"}},\
                {"key":"reach.generation","value":{"stringValue":"31"}},{"key":"reach.reason.code","value":{"stringValue":"noRoute"}},\
                {"key":"reach.reason","value":{"stringValue":"no \\"carrier\\""}}]},\
                {"timeUnixNano":"1767312045000000000","observedTimeUnixNano":"1767312045000000000","severityNumber":13,"severityText":"WARN",\
                "eventName":"reach.internet","body":{"stringValue":"internet on wwan0 limited: no answer in 10 s"},"attributes":[\
                {"key":"reach.internet","value":{"stringValue":"limited"}},{"key":"network.interface.name","value":{"stringValue":"wwan0"}},\
                {"key":"reach.reason","value":{"stringValue":"no answer in 10 s"}}]}\
                ]}]}]}
                """)
        _ = try JSONValue(parsing: Data(line.bytes))
    }

    @Test(
        "OBX-102 a collector's address is a base, to which the paths of the signals are added, or one signal's whole address",
        arguments: [
            ("https://c:4318", "https://c:4318/v1/metrics", "https://c:4318/v1/logs"),
            ("https://c/", "https://c/v1/metrics", "https://c/v1/logs"),
            ("https://c/otlp/", "https://c/otlp/v1/metrics", "https://c/otlp/v1/logs"),
            ("https://c/otlp/v1/metrics", "https://c/otlp/v1/metrics", "https://c/otlp/v1/logs"),
            ("https://c/v1/logs/", "https://c/v1/metrics", "https://c/v1/logs"),
            (
                "https://c/otlp?key=a/b#x", "https://c/otlp/v1/metrics?key=a/b",
                "https://c/otlp/v1/logs?key=a/b"
            ),
        ])
    func endpoint(url: String, metrics: String, logs: String) {
        #expect(OTLPEndpoint(url).metrics == metrics && OTLPEndpoint(url).logs == logs)
    }

    @Test(
        "OBX-103 remote write: sorted labels, no empty ones, samples in order, and the NaN that ends a series"
    )
    func remoteWrite() throws {
        let content = RemoteWrite.content(TelemetryLog.sampled().batch, .device)
        let message = try SnappyDecoder.decode(content)
        #expect(content.count * 2 < message.count)
        let series = try WrittenSeries.read(message)
        let id = try #require(TelemetryResource.device.id?.description)
        func labels(_ name: String, _ more: [[String]] = []) -> [[String]] {
            [["__name__", name], ["host_id", id], ["instance", "meter-7"]] + more + [["job", "reach"]]
        }
        let (first, second) = (UInt64(1_767_312_000_000), UInt64(1_767_312_060_000))
        let age = (1.25).bitPattern
        #expect(
            series == [
                WrittenSeries(
                    labels: labels("reach_wakeups_total"),
                    samples: [[(7.0).bitPattern, first], [(67.0).bitPattern, second]]),
                WrittenSeries(
                    labels: labels("reach_outbox_oldest_age_seconds"),
                    samples: [[age, first], [age, second]]),
                WrittenSeries(
                    labels: labels("reach_interface_expensive", [["interface", "eth0"]]),
                    samples: [[0, first], [0, second]]),
                WrittenSeries(
                    labels: labels("reach_interface_expensive", [["interface", "wwan0"]]),
                    samples: [[(1.0).bitPattern, first], [0x7ff0_0000_0000_0002, second]]),
            ])
        var families = MetricFamilies()
        families.begin("reach_path_info", .gauge, "")
        families.sample("reach_path_info", [("interface", ""), ("medium", "wifi")], .whole(1))
        var log = TelemetryLog()
        log.sample(families.all, at: 0, isWhole: true)
        let nameless = TelemetryResource(version: "1", host: "h", id: nil)
        #expect(
            try WrittenSeries.read(RemoteWrite.message(log.batch, nameless))[0].labels
                == [
                    ["__name__", "reach_path_info"], ["instance", "h"], ["job", "reach"], ["medium", "wifi"],
                ])
    }

    // What protobuf 7.36 for Python writes of the messages in prompb/remote.proto and types.proto.
    @Test("OBX-104 the bytes of a WriteRequest")
    func bytes() {
        var families = MetricFamilies()
        families.write("up", .gauge, "", .whole(1))
        var log = TelemetryLog()
        log.sample(families.all, at: 0, isWhole: true)
        let message = RemoteWrite.message(
            log.batch(offset: 1_767_312_000_000_999_999, start: 0),
            TelemetryResource(version: "1", host: "h", id: nil))
        let digits = message.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        #expect(
            digits.joined()
                == "0a3f0a0e0a085f5f6e616d655f5f120275700a0d0a08696e7374616e63651201680a0c0a036a6f621205726561636812"
                + "1009000000000000f03f10808884e0b733")
    }

    @Test("OBX-105 what snappy's format makes of bytes is decoded to the same bytes", arguments: 0..<100)
    func snappy(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let count =
            [0, 1, 3, 4, 59, 60, 61, 64, 65, 256, 257, 2047, 2049, 65_536, 70_000]
            .randomElement(using: &random) ?? 0
        let letters = UInt8([1, 2, 4, 255].randomElement(using: &random) ?? 1)
        var input: [UInt8] = []
        while input.count < count {
            if input.count > 8, Bool.random(using: &random) {
                // A repetition, near or far.
                let start = Int.random(in: 0..<input.count - 4, using: &random)
                let length = min(Int.random(in: 4...200, using: &random), count - input.count)
                for index in start..<start + length { input.append(input[index]) }
            } else {
                input.append(.random(in: 0...letters, using: &random))
            }
        }
        let output = SnappyBlock.compress(input)
        #expect(try SnappyDecoder.decode(output) == input)
        // The format's own bound (MaxCompressedLength).
        #expect(output.count <= 32 + input.count + input.count / 6)
    }

    // HMAC-SHA256 by Python's hashlib; systemd-id128 machine-id
    // --app-specific=5d0c0a1f9c2e4b7e8a53c1d94f6e2b70 of systemd 252 prints the same of another machine's ID.
    @Test(
        "OBX-106 a device's ID is what systemd makes of the machine's for this program, and does not reveal it"
    )
    func deviceID() {
        #expect(TelemetryResource.device.id?.description == "5c4531e6-7629-4937-b6cd-394a1d23bde5")
        #expect(DeviceID(machineID: "1123456789abcdef0123456789abcdef") != TelemetryResource.device.id)
        for text in [
            "", "uninitialized\n", "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdeg",
            "00000000000000000000000000000000", "+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1",
        ] {
            #expect(DeviceID(machineID: text) == nil, "\(text)")
        }
    }

    @Test("OBX-107 header fields and secrets of the configuration")
    func fields() {
        #expect(TelemetryField.field("X-Scope-OrgID:  a, b ")?.name == "X-Scope-OrgID")
        #expect(TelemetryField.field("X-Scope-OrgID:  a, b ")?.value == "a, b")
        for text in ["", "x", ": v", "a b: v", "a:", "a: \u{7}", "a: b\r\nc: d"] {
            #expect(TelemetryField.field(text) == nil, "\(text)")
        }
        let secret = TelemetryField.secret("Authorization: Bearer file:/etc/reach/to:ken")
        #expect(secret?.name == "Authorization" && secret?.prefix == "Bearer ")
        #expect(secret?.source == "file" && secret?.key == "/etc/reach/to:ken")
        #expect(TelemetryField.secret("X-Key: env:KEY")?.prefix == "")
        for text in ["X-Key: KEY", "X-Key: file:token", "X-Key: env:", "X-Key: other:x"] {
            #expect(TelemetryField.secret(text) == nil, "\(text)")
        }
    }
}
