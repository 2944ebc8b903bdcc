// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
public import SessionCore

/// Called once with the head of the response, what the serializer made of the content (or the path of a download), and the error.
///
/// An object and an error may come together: content that could be decoded under a status that is not acceptable.
public typealias CompletionBlock = @Sendable (SessionResponse?, (any Sendable)?, SessionError?) -> Void

/// What happens after a task has ended: delegate, serializer, completion block, event, in this order.
struct CompletionDelivery: Sendable {
    let serializer: any ResponseSerializer
    let queue: DeliveryQueue
    let group: CompletionGroup?
    let delegate: (any SessionDelegate)?
    let block: CompletionBlock?

    /// Content up to so many bytes is decoded where the block is called: that costs less than another change of threads.
    private static var smallContent: Int { 16 << 10 }

    /// Leaves the loop at once: decoding may take long.
    func deliver(_ task: SessionTask, _ outcome: TaskOutcome) {
        guard delegate != nil || (outcome.data?.count ?? 0) > Self.smallContent else {
            return queue.submit { call(task, outcome, result(of: task, outcome)) }
        }
        Task {
            if let delegate {
                await delegate.task(task, didCollect: outcome.metrics)
                await delegate.task(task, didCompleteWith: outcome.error)
            }
            let result = result(of: task, outcome)
            queue.submit { call(task, outcome, result) }
        }
    }

    private func call(
        _ task: SessionTask, _ outcome: TaskOutcome, _ result: ((any Sendable)?, SessionError?)
    ) {
        let (object, error) = result
        block?(outcome.response, object, error)
        group?.leave()
        task.session.events.send(
            .completed(
                task,
                TaskCompletion(outcome: outcome, object: object, serializer: serializer, error: error)))
    }

    private func result(of task: SessionTask, _ outcome: TaskOutcome) -> ((any Sendable)?, SessionError?) {
        let result = evaluate(outcome)
        if outcome.error == nil, outcome.filePath == nil { task.tell(.serialized(result.1)) }
        task.tell(.completed(result.1))
        return result
    }

    private func evaluate(_ outcome: TaskOutcome) -> ((any Sendable)?, SessionError?) {
        if let error = outcome.error { return (nil, error) }
        if let path = outcome.filePath { return (path, nil) }
        return Self.serialize(outcome, serializer)
    }

    /// Why a serializer does not accept a response, whatever its content.
    static func refusal(of response: SessionResponse, by serializer: some ResponseSerializer) -> SessionError?
    {
        serializer.serialize(nil, response: response).error
    }

    private static func serialize<Serializer: ResponseSerializer>(
        _ outcome: TaskOutcome, _ serializer: Serializer
    ) -> ((any Sendable)?, SessionError?) {
        let result = serializer.serialize(outcome.data, response: outcome.response)
        return (result.value, result.error)
    }
}
