// SPDX-License-Identifier: Apache-2.0

#if Logging
    import FoundationEssentials
    public import Logging
    public import Reachability
    import SessionCore
    public import SessionManager

    extension EventMonitor {
        /// Writes the steps of a manager's tasks to a log by swift-log.
        ///
        ///     manager.eventMonitors.append(.logging(to: Logger(label: "http")))
        ///
        /// A line has neither content nor header fields, queries or credentials; `task`, `method` and `host`
        /// are metadata. What a line would cost below the logger's level is not spent.
        ///
        /// - Parameters:
        ///   - level: of steps.
        ///   - failureLevel: of the end of a task by an error; a cancellation is a step.
        ///   - queue: where lines are written; a thread of its own unless given.
        public static func logging(
            to logger: Logger, level: Logger.Level = .debug, failureLevel: Logger.Level = .warning,
            queue: DeliveryQueue = .own
        ) -> EventMonitor {
            EventMonitor(queue: queue) { task, step in
                var (level, message) = (level, "\(step)")
                if case .completed(let error?) = step, !error.isCancellation {
                    (level, message) = (failureLevel, "failed: \(error.message)")
                }
                guard level >= logger.logLevel else { return }
                let request = task.originalRequest
                logger.log(
                    level: level, "\(message)",
                    metadata: [
                        "task": "\(task.identifier)", "method": "\(request.method.rawValue)",
                        "host": "\(request.url.host() ?? "")",
                    ])
            }
        }
    }
#endif
