// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Outbox
import ReachabilityCore
import ServiceCore
import SessionCore
import SessionManager

/// The requests of a batch: metrics and logs for a collector, metrics for remote write.
struct TelemetryRequests: Sendable {
    let batch: TelemetryBatch
    let resource: TelemetryResource
    let settings: ServiceConfiguration.Telemetry

    /// The lane of each kind of server, so that one that is away does not hold up the other.
    static let otlpLane = "telemetry"
    static let remoteWriteLane = "telemetry-remote-write"

    /// Stores them, all or none, and drops what has become too much.
    func store(in outbox: RequestOutbox) async throws {
        let requests = try requests()
        try await outbox.enqueue(requests)
        let bounds = LaneBounds(bytes: settings.bytes, deadLetters: settings.expires)
        for lane in Set(requests.map(\.lane)) { try await outbox.trim(lane: lane, to: bounds) }
    }

    func requests() throws(SessionError) -> [OutboxRequest] {
        var requests: [OutboxRequest] = []
        if !settings.otlp.isEmpty {
            let endpoint = OTLPEndpoint(settings.otlp)
            if !batch.times.isEmpty {
                var line = TextLine()
                OTLPWriter.writeMetrics(batch, resource, to: &line)
                requests.append(try collected(line.bytes, endpoint.metrics))
            }
            if settings.logs, !batch.changes.isEmpty {
                var line = TextLine()
                OTLPWriter.writeLogs(batch, resource, to: &line)
                requests.append(try collected(line.bytes, endpoint.logs))
            }
        }
        if !settings.remoteWrite.isEmpty, !batch.times.isEmpty {
            let content = RemoteWrite.content(batch, resource)
            requests.append(
                try request(settings.remoteWrite, Self.remoteWriteLane, Data(content), RemoteWrite.fields))
        }
        return requests
    }

    /// A request for a collector, which has to understand gzip (opentelemetry.io/docs/specs/otlp).
    private func collected(_ json: [UInt8], _ url: String) throws(SessionError) -> OutboxRequest {
        var (content, fields) = (Data(json), [("Content-Type", OTLPWriter.contentType)])
        if let smaller = try? ContentCompression.gzip.compress(content) {
            content = smaller
            fields.append(("Content-Encoding", "gzip"))
        }
        return try request(url, Self.otlpLane, content, fields)
    }

    private func request(
        _ url: String, _ lane: String, _ content: Data, _ fields: [(String, String)]
    ) throws(SessionError) -> OutboxRequest {
        var request = try OutboxRequest(url, body: .data(content))
        request.lane = lane
        request.networkCondition = settings.network
        request.expires = Date(timeIntervalSinceNow: settings.expires / .seconds(1))
        request.headerFields[.userAgent] =
            UserAgent(program: "reach", version: resource.version).description
        let given = settings.headers.compactMap { TelemetryField.field($0).map { ($0.name, $0.value) } }
        for (name, value) in fields + given {
            if let name = HTTPField.Name(name) { request.headerFields[name] = value }
        }
        request.secretFields = settings.secrets.compactMap { TelemetryField.secret($0) }.map {
            SecretField(name: $0.name, prefix: $0.prefix, source: $0.source, key: $0.key)
        }
        return request
    }
}

// Storing what the service sends of itself.
extension OutboxService {
    /// Stores the requests of a batch, as soon as the outbox is open.
    func store(
        _ batch: TelemetryBatch, _ resource: TelemetryResource, _ settings: ServiceConfiguration.Telemetry,
        _ done: @escaping (String?) -> Void
    ) {
        let requests = TelemetryRequests(batch: batch, resource: resource, settings: settings)
        deposit {
            try await requests.store(in: $0)
        } done: {
            done($0)
        }
    }
}
