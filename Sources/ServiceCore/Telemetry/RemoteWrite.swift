// SPDX-License-Identifier: Apache-2.0

/// Writes batches as Prometheus' remote write 1.0 (prometheus.io/docs/specs/prw/remote_write_spec): a
/// WriteRequest in the block format of snappy.
package enum RemoteWrite {
    /// The header fields of each request.
    package static let fields = [
        ("Content-Type", "application/x-protobuf"), ("Content-Encoding", "snappy"),
        ("X-Prometheus-Remote-Write-Version", "0.1.0"),
    ]

    /// The NaN that ends a series.
    static let staleBits: UInt64 = 0x7ff0_0000_0000_0002

    /// The content of a request.
    package static func content(_ batch: TelemetryBatch, _ resource: TelemetryResource) -> [UInt8] {
        SnappyBlock.compress(message(batch, resource))
    }

    /// The WriteRequest before its compression.
    package static func message(_ batch: TelemetryBatch, _ resource: TelemetryResource) -> [UInt8] {
        var request = ProtobufWriter()
        for metric in batch.metrics {
            for series in metric.series where !series.points.isEmpty {
                var message = ProtobufWriter()
                for (name, value) in labels(metric.name, series.labels, resource) {
                    var label = ProtobufWriter()
                    label.field(1, name)
                    label.field(2, value)
                    message.field(1, label)
                }
                for point in series.points {
                    var sample = ProtobufWriter()
                    sample.field(1, bits: point.number?.double.bitPattern ?? staleBits)
                    sample.field(2, batch.time(point) / 1_000_000)
                    message.field(2, sample)
                }
                request.field(1, message)
            }
        }
        return request.bytes
    }

    /// The labels, sorted by the bytes of their names; one without a value is the same as none.
    private static func labels(
        _ name: String, _ labels: [MetricLabel], _ resource: TelemetryResource
    ) -> [(String, String)] {
        var all = labels.map { ("\($0.name)", $0.value) }
        all += [("__name__", name), ("job", "reach"), ("instance", resource.host)]
        if let id = resource.id { all.append(("host_id", "\(id)")) }
        return all.filter { !$0.1.isEmpty }
            .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
    }
}
