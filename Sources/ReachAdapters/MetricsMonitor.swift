// SPDX-License-Identifier: Apache-2.0

#if Metrics
    public import Metrics
    public import Reachability
    import SessionCore
    public import SessionManager

    extension EventMonitor {
        /// Counts a manager's tasks and times its exchanges by swift-metrics.
        ///
        ///     manager.eventMonitors.append(.metrics())
        ///
        /// With the prefix `http_client`: counters `http_client_tasks` (dimension `outcome`: succeeded, failed,
        /// cancelled), `http_client_exchanges` (`status`: 2xx …, none), `http_client_retries`,
        /// `http_client_parked`, `http_client_sent_bytes`, `http_client_received_bytes`; timers
        /// `http_client_exchange_duration`, `http_client_first_byte` and, for new connections,
        /// `http_client_connect`. Addresses and hosts are no dimensions, since there may be very many.
        ///
        /// A refusal by its status, such as 404, is an answer: the task has succeeded, and the exchange is
        /// counted as `4xx`.
        ///
        /// - Parameters:
        ///   - prefix: begins each label.
        ///   - dimensions: go with each metric, such as the name of the service.
        ///   - factory: makes the metrics; that of `MetricsSystem` unless given.
        ///   - queue: where they are recorded; a thread of its own unless given.
        public static func metrics(
            prefix: String = "http_client", dimensions: [(String, String)] = [],
            factory: any MetricsFactory = MetricsSystem.factory, queue: DeliveryQueue = .own
        ) -> EventMonitor {
            let metrics = TransferCounters(prefix: prefix, dimensions: dimensions, factory: factory)
            return EventMonitor(queue: queue) { task, step in metrics.record(step, of: task) }
        }
    }

    /// The metrics of one manager, made once.
    private final class TransferCounters: Sendable {
        private let succeeded: Counter
        private let failed: Counter
        private let cancelled: Counter
        private let statuses: [Counter]
        private let retries: Counter
        private let parked: Counter
        private let sent: Counter
        private let received: Counter
        private let duration: Timer
        private let firstByte: Timer
        private let connect: Timer

        init(prefix: String, dimensions: [(String, String)], factory: any MetricsFactory) {
            func counter(_ name: String, _ own: [(String, String)] = []) -> Counter {
                Counter(label: "\(prefix)_\(name)", dimensions: dimensions + own, factory: factory)
            }
            func timer(_ name: String) -> Timer {
                Timer(label: "\(prefix)_\(name)", dimensions: dimensions, factory: factory)
            }
            succeeded = counter("tasks", [("outcome", "succeeded")])
            failed = counter("tasks", [("outcome", "failed")])
            cancelled = counter("tasks", [("outcome", "cancelled")])
            statuses = (["none"] + (1...5).map { "\($0)xx" }).map { counter("exchanges", [("status", $0)]) }
            retries = counter("retries")
            parked = counter("parked")
            sent = counter("sent_bytes")
            received = counter("received_bytes")
            duration = timer("exchange_duration")
            firstByte = timer("first_byte")
            connect = timer("connect")
        }

        func record(_ step: TaskStep, of task: SessionTask) {
            switch step {
            case .completed(nil): succeeded.increment()
            case .completed(let error?): (error.isCancellation ? cancelled : failed).increment()
            case .retrying: retries.increment()
            case .parked: parked.increment()
            case .received(let response): statuses[Self.index(of: response)].increment()
            case .measured(let metrics): record(metrics)
            default: break
            }
        }

        private static func index(of response: SessionResponse) -> Int {
            guard let status = response.statusCode, (100...599).contains(status) else { return 0 }
            return status / 100
        }

        private func record(_ metrics: TransferMetrics) {
            sent.increment(by: metrics.bytesSent)
            received.increment(by: metrics.bytesReceived)
            duration.recordNanoseconds(metrics.total.asNanoseconds)
            if metrics.firstByte > .zero { firstByte.recordNanoseconds(metrics.firstByte.asNanoseconds) }
            if !metrics.isReusedConnection, metrics.connect > .zero {
                connect.recordNanoseconds(metrics.connect.asNanoseconds)
            }
        }
    }

    extension Duration {
        fileprivate var asNanoseconds: Int64 {
            components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
        }
    }
#endif
