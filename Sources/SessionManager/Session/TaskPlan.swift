// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionCore

/// What was agreed when a task was made.
struct TaskPlan: Sendable {
    var options = TaskOptions()
    var delegate: (any SessionDelegate)? {
        get { boxedDelegate?.value }
        set { boxedDelegate = newValue.map { Boxed($0) } }
    }
    /// The manager's interceptor and the task's own.
    var interceptor: (any RequestInterceptor)? {
        get { boxedInterceptor?.value }
        set { boxedInterceptor = newValue.map { Boxed($0) } }
    }
    /// Judges a head before a download's content is written, and whether a response is a failure that may be
    /// tried again.
    var validation: (@Sendable (SessionResponse) -> SessionError?)?
    /// Makes of the content what is wanted, where a retrier may hear that it cannot be done.
    var serialization: (@Sendable (Data, SessionResponse) -> SerializedContent)?
    /// Where a download goes; nil leaves it where it was received.
    var destination: (@Sendable (_ temporaryPath: String, SessionResponse) -> DownloadDestination?)?
    /// Continues with an earlier download.
    var record: ResumeRecord?
    /// The manager's response cache; nil where there is none.
    var cache: CacheAccess?
    /// Hear of its steps.
    var monitors: [EventMonitor] = []
    /// Whether the delegate hears of bytes.
    var delegateHearsBytes = false
    /// Whether one of the monitors does.
    var monitorsHearBytes = false
    /// Takes the content of a stream task.
    var stream: StreamBuffer?
    /// Told of the head of the last response.
    var head: HeadPromise?
    /// Tells others of its end than those who wait for it; called on the loop's thread, before these.
    var completion: CompletionDelivery?

    // By reference: to find that there is none takes the runtime's help where it is an optional value of any
    // type.
    private var boxedDelegate: Boxed<any SessionDelegate>?
    private var boxedInterceptor: Boxed<any RequestInterceptor>?
}
