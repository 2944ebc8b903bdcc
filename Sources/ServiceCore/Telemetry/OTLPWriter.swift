// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
import SessionCore

/// Writes batches as OTLP's JSON (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"): names in
/// lowerCamelCase, 64-bit integers as strings, enumerations as numbers.
package enum OTLPWriter {
    /// The content type of both.
    package static let contentType = "application/json"

    /// Appends an ExportMetricsServiceRequest.
    package static func writeMetrics(
        _ batch: TelemetryBatch, _ resource: TelemetryResource, to line: inout TextLine
    ) {
        begin("resourceMetrics", "scopeMetrics", "metrics", resource, &line)
        let metrics = batch.metrics.filter { $0.series.contains { !$0.points.isEmpty } }
        line.append(json: metrics) { line, metric in
            line.field(#"{"name":"#, metric.name)
            if let unit = metric.unit { line.field(#","unit":"#, unit) }
            switch metric.kind {
            // AGGREGATION_TEMPORALITY_CUMULATIVE.
            case .counter: line.append(literal: #","sum":{"aggregationTemporality":2,"isMonotonic":true,"#)
            case .gauge: line.append(literal: #","gauge":{"#)
            }
            line.append(literal: #""dataPoints":"#)
            let points = metric.series.flatMap { series in series.points.map { (series.labels, $0) } }
            line.append(json: points) { line, item in
                line.append(literal: #"{"attributes":"#)
                line.append(json: item.0) { line, label in
                    write("\(label.name)", label.value, to: &line)
                }
                if metric.kind == .counter {
                    line.append(literal: #","startTimeUnixNano":"#)
                    write(quoted: batch.start, to: &line)
                }
                line.append(literal: #","timeUnixNano":"#)
                write(quoted: batch.time(item.1), to: &line)
                write(item.1.number, to: &line)
                line.append(literal: "}")
            }
            line.append(literal: "}}")
        }
        line.append(literal: "}]}]}")
    }

    /// Appends an ExportLogsServiceRequest.
    package static func writeLogs(
        _ batch: TelemetryBatch, _ resource: TelemetryResource, to line: inout TextLine
    ) {
        begin("resourceLogs", "scopeLogs", "logRecords", resource, &line)
        line.append(json: batch.changes) { line, item in
            let (change, time) = (item.change, item.time)
            line.append(literal: #"{"timeUnixNano":"#)
            write(quoted: time, to: &line)
            line.append(literal: #","observedTimeUnixNano":"#)
            write(quoted: time, to: &line)
            // Severities as the log data model maps those of syslog: INFO, INFO2, WARN.
            line.append(literal: #","severityNumber":"#)
            switch change.priority {
            case .critical, .error, .warning: line.append(literal: #"13,"severityText":"WARN""#)
            case .notice: line.append(literal: #"10,"severityText":"INFO2""#)
            case .info, .debug: line.append(literal: #"9,"severityText":"INFO""#)
            }
            line.field(#","eventName":"#, change.eventName)
            line.field(#","body":{"stringValue":"#, change.sentence)
            line.append(literal: #"},"attributes":"#)
            line.append(json: change.attributes) { write($1.name, $1.value, to: &$0) }
            line.append(literal: "}")
        }
        line.append(literal: "}]}]}")
    }

    private static func begin(
        _ outer: String, _ inner: String, _ list: String, _ resource: TelemetryResource,
        _ line: inout TextLine
    ) {
        line.append("{\"\(outer)\":[{\"resource\":{\"attributes\":")
        line.append(json: resource.attributes) { write($1.name, $1.value, to: &$0) }
        line.append("},\"\(inner)\":[{\"scope\":{\"name\":\"reach\",\"version\":")
        line.append(json: resource.version)
        line.append("},\"\(list)\":")
    }

    private static func write(_ name: String, _ value: String, to line: inout TextLine) {
        line.field(#"{"key":"#, name)
        line.field(#","value":{"stringValue":"#, value)
        line.append(literal: "}}")
    }

    private static func write(_ number: MetricNumber?, to line: inout TextLine) {
        switch number {
        // DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK.
        case nil: line.append(literal: #","flags":1"#)
        case .seconds(let duration)?:
            line.append(literal: #","asDouble":"#)
            MetricNumber.seconds(duration).append(to: &line)
        case .whole(let number)?:
            line.append(literal: #","asInt":"#)
            write(quoted: Int64(clamping: number), to: &line)
        case .flag(let flag)?: line.append(literal: flag ? #","asInt":"1""# : #","asInt":"0""#)
        }
    }

    private static func write(quoted number: Int64, to line: inout TextLine) {
        line.append(byte: 0x22)
        line.append(number)
        line.append(byte: 0x22)
    }
}

extension TelemetryResource {
    /// Names of OpenTelemetry's semantic conventions.
    fileprivate var attributes: [(name: String, value: String)] {
        var all = [("service.name", "reach"), ("service.version", version), ("host.name", host)]
        if let id { all += [("host.id", "\(id)"), ("service.instance.id", "\(id)")] }
        return all.map { (name: $0.0, value: $0.1) }
    }
}

extension TelemetryChange {
    fileprivate var eventName: String {
        if record.internet != nil { return "reach.internet" }
        return record.isStatus ? "reach.status" : "reach.path"
    }

    fileprivate var attributes: [(name: String, value: String)] {
        var all: [(name: String, value: String)] = []
        func add(_ name: String, _ value: String?) { if let value { all.append((name, value)) } }
        if let internet = record.internet {
            add("reach.internet", internet.rawValue)
        } else {
            add("reach.status", record.status.description)
            add("reach.previous", previous?.description)
            add("reach.online", record.isOnline ? "true" : "false")
            add("reach.medium", record.medium)
            add("reach.generation", "\(record.generation)")
            add("reach.reason.code", record.code)
        }
        add("network.interface.name", record.interface)
        add("reach.reason", record.reason.isEmpty ? nil : record.reason)
        return all
    }
}

/// The addresses of a collector, as OpenTelemetry's exporters make them of OTEL_EXPORTER_OTLP_ENDPOINT: the
/// paths of the signals are added to a base; the whole address of one signal leads to the other too.
package struct OTLPEndpoint: Sendable, Equatable {
    package let metrics: String
    package let logs: String

    /// - Parameter url: `https://collector.example:4318`, `…/otlp`, or `…/v1/metrics`.
    package init(_ url: String) {
        // A query, of a key for example, stays behind the path.
        let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
        var (base, query) = (url[..<end], url[end...].prefix { $0 != "#" })
        if query == "?" { query = "" }
        while base.hasSuffix("/") { base.removeLast() }
        for signal in [Self.metricsPath, Self.logsPath] where base.hasSuffix(signal) {
            base.removeLast(signal.utf8.count)
        }
        metrics = base + Self.metricsPath + query
        logs = base + Self.logsPath + query
    }

    private static let metricsPath = "/v1/metrics"
    private static let logsPath = "/v1/logs"
}
