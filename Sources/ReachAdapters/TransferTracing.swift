// SPDX-License-Identifier: Apache-2.0

#if Tracing
    import FoundationEssentials
    import HTTPTypes
    public import SessionCore
    public import SessionManager
    import Synchronization
    public import Tracing

    /// Traces a manager's tasks by swift-distributed-tracing: a span for each task, and one below it for each
    /// exchange, with the trace's context in the header fields (`traceparent`, as the tracer writes it).
    ///
    ///     TransferTracing().attach(to: manager)
    ///
    /// The parent is the context of the Swift task that resumes the session task. Attributes are those of
    /// OpenTelemetry's HTTP clients: `http.request.method`, `server.address`, `http.response.status_code`.
    public final class TransferTracing: RequestAdapter {
        private struct Spans {
            let task: any Span
            var exchange: (any Span)?
        }

        private let tracer: any Tracer
        private let spans = Mutex<[Int: Spans]>([:])

        /// Traces by this tracer; that of `InstrumentationSystem` unless given.
        public init(_ tracer: any Tracer = InstrumentationSystem.tracer) { self.tracer = tracer }

        /// Traces the tasks that the manager makes from now on; its interceptor is asked before.
        public func attach(to manager: URLSessionManager) {
            // Inline: the context of the Swift task that resumes a session task is only there at that moment.
            manager.eventMonitors.append(
                EventMonitor(queue: .custom { $0() }) { [self] in record($1, of: $0) })
            let former = manager.interceptor
            manager.interceptor = Interceptor.combining(
                manager: former, request: Interceptor(adapters: [self]))
        }

        /// The request with the context of its task's span.
        public func adapt(_ request: SessionRequest, state: RequestState) async throws -> SessionRequest {
            guard let context = spans.withLock({ $0[state.identifier]?.task.context }) else {
                return request
            }
            var request = request
            tracer.inject(context, into: &request, using: HeaderInjector())
            return request
        }

        private func record(_ step: TaskStep, of task: SessionTask) {
            switch step {
            case .resumed: begin(task)
            case .sent(let request): beginExchange(request, of: task)
            case .received(let response):
                change(task) { spans in
                    if let status = response.statusCode {
                        spans.exchange?.attributes["http.response.status_code"] = status
                    }
                }
            case .retrying(let count, let error, _):
                change(task) { spans in
                    spans.task.addEvent(
                        SpanEvent(
                            name: "retry",
                            attributes: ["count": .int64(Int64(count + 1)), "error": "\(error.code)"]))
                }
            case .parked(let sentence):
                change(task) {
                    $0.task.addEvent(SpanEvent(name: "parked", attributes: ["reason": .string(sentence)]))
                }
            case .unparked: change(task) { $0.task.addEvent(SpanEvent(name: "unparked")) }
            case .measured: endExchange(of: task)
            case .completed(let error): end(task, error)
            default: break
            }
        }

        private func change(_ task: SessionTask, _ body: (inout Spans) -> Void) {
            spans.withLock { spans in
                if var own = spans[task.identifier] {
                    body(&own)
                    spans[task.identifier] = own
                }
            }
        }

        private func begin(_ task: SessionTask) {
            guard spans.withLock({ $0[task.identifier] == nil }) else { return }
            let request = task.originalRequest
            let span = tracer.startAnySpan(
                "HTTP task", context: InstrumentationContext.current ?? .topLevel, ofKind: .internal)
            span.describe(request)
            spans.withLock {
                $0[task.identifier] = Spans(task: span)
            }
        }

        private func beginExchange(_ request: SessionRequest, of task: SessionTask) {
            endExchange(of: task)
            change(task) { spans in
                let span = tracer.startAnySpan(
                    request.method.rawValue, context: spans.task.context, ofKind: .client)
                span.describe(request)
                spans.exchange = span
            }
        }

        private func endExchange(of task: SessionTask) {
            change(task) { spans in
                spans.exchange?.end()
                spans.exchange = nil
            }
        }

        private func end(_ task: SessionTask, _ error: SessionError?) {
            endExchange(of: task)
            let own = spans.withLock { $0.removeValue(forKey: task.identifier) }
            if let error, !error.isCancellation {
                own?.task.recordError(error)
                own?.task.setStatus(SpanStatus(code: .error, message: error.message))
            }
            own?.task.end()
        }
    }

    extension Span {
        /// What OpenTelemetry says of a client's request; without query, user and password.
        fileprivate func describe(_ request: SessionRequest) {
            updateAttributes { attributes in
                attributes["http.request.method"] = request.method.rawValue
                attributes["server.address"] = request.url.host() ?? ""
                attributes["url.path"] = request.url.path(percentEncoded: true)
            }
        }
    }

    /// Puts the fields of a context into a request; those that no request can have are left out.
    private struct HeaderInjector: Injector {
        func inject(_ value: String, forKey key: String, into request: inout SessionRequest) {
            try? request.setValue(value, forHeader: key)
        }
    }
#endif
