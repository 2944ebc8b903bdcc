// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionCore

/// What was agreed when a task was made.
struct TaskPlan: Sendable {
    var options = TaskOptions()
    var delegate: (any SessionDelegate)? {
        get { sharedDelegate?.value }
        set { sharedDelegate = newValue.map { Shared($0) } }
    }
    /// The manager's interceptor and the task's own.
    var interceptor: (any RequestInterceptor)? {
        get { sharedInterceptor?.value }
        set { sharedInterceptor = newValue.map { Shared($0) } }
    }
    /// Judges a head before a download's content is written, and whether a response may be tried again.
    var validation: (@Sendable (SessionResponse) -> SessionError?)?
    /// Decodes the content, where a retrier may be asked about a failure of that.
    var serialization: (@Sendable (Data, SessionResponse) -> SerializedContent)?
    /// Where a download goes; nil leaves it where it was received.
    var destination: DownloadPlacement? {
        didSet {
            // A checksum proves that content of several servers belongs together.
            if !options.mirrors.isEmpty, destination?.isChecked == true {
                options.continuesWithoutValidator = true
            }
        }
    }
    /// Continues with an earlier download.
    var record: ResumeRecord?
    /// The manager's response cache; nil where there is none.
    var cache: CacheAccess?
    /// The hosts that are spoken to by https alone; nil where any may be asked by http.
    var strictTransport: StrictTransport?
    /// Get its steps.
    var monitors: [EventMonitor] = []
    /// Whether the delegate gets bytes.
    var delegateHearsBytes = false
    /// Whether one of the monitors does.
    var monitorsHearBytes = false
    /// Takes over the connection of each exchange; nil for ordinary requests.
    var upgrade: (any ConnectionUpgrade)?
    /// Receives the content of a stream task.
    var stream: StreamBuffer?
    /// Gets the head of the last response.
    var head: ResponseHeadFuture?
    /// Delivers its end to delegate, block and events, before waiters resume; called on the loop's thread, or
    /// on the one that cancels a task which was never resumed.
    var completion: CompletionDelivery?

    // By reference: to find an optional value of any type absent takes the runtime's help.
    private var sharedDelegate: Shared<any SessionDelegate>?
    private var sharedInterceptor: Shared<any RequestInterceptor>?
}

/// A value that never changes and is handed on by reference: one count, however much it holds.
final class Shared<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: consuming Value) { self.value = consume value }
}
