// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
public import SessionCore
import Synchronization

/// Called once with the response's head, the serializer's object or a download's path, and the error.
///
/// Object and error may come together: content that could be decoded, under an unacceptable status.
public typealias CompletionBlock = @Sendable (SessionResponse?, (any Sendable)?, SessionError?) -> Void

/// What follows the end of tasks of one plan, in this order: delegate, serializer, completion block, event.
final class CompletionDelivery: Sendable {
    private let serializer: any ResponseSerializer
    private let queue: DeliveryQueue
    private let group: CompletionGroup?
    private let delegate: (any SessionDelegate)?

    init(
        serializer: any ResponseSerializer, queue: DeliveryQueue, group: CompletionGroup?,
        delegate: (any SessionDelegate)?
    ) {
        self.serializer = serializer
        self.queue = queue
        self.group = group
        self.delegate = delegate
    }

    /// Whether a task's end has listeners that do not wait for it.
    func isWanted(by task: SessionTask) -> Bool { task.block != nil || delegate != nil || group != nil }

    /// Leaves the loop at once: decoding may take long.
    func deliver(_ task: SessionTask, _ outcome: TaskOutcome) {
        guard delegate != nil || !outcome.isSmall else {
            // A closure that holds one object needs no memory of its own.
            return queue.submit { task.plan.completion?.evaluateAndCall(task) }
        }
        Task {
            if let delegate {
                await task.byteReport?.delivered()
                await delegate.task(task, didCollect: outcome.metrics)
                await delegate.task(task, didCompleteWith: outcome.error)
            }
            let response = outcome.response
            let result = result(of: task, outcome, response, outcome.data)
            queue.submit { self.call(task, outcome, response, result) }
        }
    }

    private func evaluateAndCall(_ task: SessionTask) {
        let outcome = task.knownOutcome
        let (response, data) = task.session.handOver(outcome)
        call(task, outcome, response, result(of: task, outcome, response, data))
    }

    private func call(
        _ task: SessionTask, _ outcome: TaskOutcome, _ response: SessionResponse?, _ result: SerializedContent
    ) {
        task.block?(response, result.value, result.error)
        group?.leave()
        task.session.events.publish(
            .completed(
                task,
                TaskCompletion(
                    outcome: outcome, object: result.value, serializer: serializer, error: result.error)))
        task.session.deliveryEnds()
    }

    private func result(
        of task: SessionTask, _ outcome: TaskOutcome, _ response: SessionResponse?, _ data: Data?
    ) -> SerializedContent {
        let result: SerializedContent
        if let error = outcome.error {
            result = SerializedContent(nil, error: error)
        } else if let path = outcome.filePath {
            result = SerializedContent(path)
        } else if let serialized = outcome.serialized {
            result = serialized
        } else {
            result = serializer.content(data, of: response)
            task.publish(.serialized(result.error))
        }
        task.publish(.completed(result.error))
        return result
    }

    /// What the block gets of the content.
    func content(_ data: Data, of response: SessionResponse) -> SerializedContent {
        serializer.content(data, of: response)
    }
}

/// Waits for the completion blocks of several tasks.
public final class CompletionGroup: Sendable {
    private struct State {
        var count = 0
        var waiting: [Int: UnsafeContinuation<Void, Never>] = [:]
        var nextNumber = 0
    }

    private let state = Mutex(State())

    /// A group without members.
    public init() {}

    /// Returns when every completion block of its tasks has returned; at once where there is none.
    ///
    /// Returns earlier where the waiting task is cancelled.
    public func wait() async {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let hasEnded = state.withLock { state in
                    guard state.count > 0, !Task.isCancelled else { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if hasEnded { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    func enter() { state.withLock { $0.count += 1 } }

    func leave() {
        let waiting: [UnsafeContinuation<Void, Never>] = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }
}
