// SPDX-License-Identifier: Apache-2.0

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
