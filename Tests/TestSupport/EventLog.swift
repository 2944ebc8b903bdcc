// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

/// Events of a test's callbacks, in order, with waiting that does not poll.
package final class EventLog<Element: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let isSatisfied: @Sendable ([Element]) -> Bool
        let continuation: CheckedContinuation<[Element], Never>
    }

    private struct State: Sendable {
        var elements: [Element] = []
        var waiters: [Int: Waiter] = [:]
        /// Waits that ended before they began: cancelled, or out of time.
        var expired: Set<Int> = []
        var next = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Everything so far.
    package var elements: [Element] { state.withLock { $0.elements } }

    /// Appends an event, and resumes the waits that it satisfies.
    package func append(_ element: Element) {
        let ready = state.withLock { state -> [(CheckedContinuation<[Element], Never>, [Element])] in
            state.elements.append(element)
            let elements = state.elements
            let satisfied = state.waiters.filter { $0.value.isSatisfied(elements) }
            for id in satisfied.keys { state.waiters[id] = nil }
            return satisfied.values.map { ($0.continuation, elements) }
        }
        for (continuation, elements) in ready { continuation.resume(returning: elements) }
    }

    /// Waits until the events satisfy `predicate`, or until the task is cancelled.
    ///
    /// Evaluated at once and with every event. A minute without success is an issue of the test; a wait with
    /// a limit of its own is none, so that the test states its expectation about the result.
    ///
    /// - Returns: the events when they first satisfied it, or else all events.
    @discardableResult
    package func wait(
        within limit: Duration? = nil, fileID: String = #fileID, filePath: String = #filePath,
        line: Int = #line, column: Int = #column, until predicate: @escaping @Sendable ([Element]) -> Bool
    ) async -> [Element] {
        let seen = await seen(within: limit ?? .seconds(60), until: predicate)
        if limit == nil, !Task.isCancelled, !predicate(seen) {
            let location = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
            Issue.record("not within a minute: \(seen.suffix(20))", sourceLocation: location)
        }
        return seen
    }

    private func seen(
        within limit: Duration, until predicate: @escaping @Sendable ([Element]) -> Bool
    ) async -> [Element] {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        let alarm = Task {
            // The limit of the wait, for an event that does not come.
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            expire(id)
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let seen = state.withLock { state -> [Element]? in
                    let isOver = state.expired.remove(id) != nil
                    if isOver || predicate(state.elements) { return state.elements }
                    state.waiters[id] = Waiter(isSatisfied: predicate, continuation: continuation)
                    return nil
                }
                if let seen { continuation.resume(returning: seen) }
            }
        } onCancel: {
            expire(id)
        }
    }

    /// Waits for a number of events.
    @discardableResult
    package func wait(
        forCount count: Int, within limit: Duration? = nil, fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) async -> [Element] {
        await wait(within: limit, fileID: fileID, filePath: filePath, line: line, column: column) {
            $0.count >= count
        }
    }

    private func expire(_ id: Int) {
        let (waiter, elements) = state.withLock { state in
            let waiter = state.waiters.removeValue(forKey: id)
            if waiter == nil { state.expired.insert(id) }
            return (waiter, state.elements)
        }
        waiter?.continuation.resume(returning: elements)
    }
}
