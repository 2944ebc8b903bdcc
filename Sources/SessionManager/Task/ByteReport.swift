// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Synchronization

/// Reports to a delegate what happens to the bytes of one task: in order, one by one, and off the loop.
///
/// Every delegate gets the events of a download; the bytes themselves, those with ``hearsOfBytes``.
final class ByteReport: Sendable {
    private enum News: Sendable {
        case sent(Int64, TransferProgress.Snapshot)
        case received(Data)
        case written(Int64, TransferProgress.Snapshot)
        case resumed(Int64, total: Int64?)
        case becameDownload
    }

    private struct State {
        var news: [News] = []
        /// Bytes of content that the delegate does not have yet.
        var undelivered = 0
        var isDelivering = false
        /// Resumes a transfer that was too far ahead.
        var resume: (@Sendable () -> Void)?
        /// Wait until everything has been delivered.
        var listeners: [UnsafeContinuation<Void, Never>] = []
        /// How much of the body has been reported.
        var sent: Int64 = 0
    }

    /// A transfer that is so many bytes ahead of the delegate pauses, as before the reader of a stream.
    private static let limit = 256 << 10
    private let delegate: any SessionDelegate
    /// Whether the delegate gets sent, received and written bytes.
    let hearsOfBytes: Bool
    private let state = Mutex(State())

    init(_ delegate: any SessionDelegate, hearsOfBytes: Bool) {
        self.delegate = delegate
        self.hearsOfBytes = hearsOfBytes
    }

    // MARK: What happens, on the loop's thread

    /// The number of bytes of the body that have been sent.
    func sent(_ progress: TransferProgress.Snapshot, of task: SessionTask) {
        guard hearsOfBytes else { return }
        add(to: task) { state in
            let count = progress.completedBytes - state.sent
            guard count > 0 else { return }
            state.sent = progress.completedBytes
            if case .sent(let before, _)? = state.news.last {
                state.news[state.news.count - 1] = .sent(before + count, progress)
            } else {
                state.news.append(.sent(count, progress))
            }
        }
    }

    /// A part of the content has come.
    func received(_ content: Data, of task: SessionTask) {
        add(to: task) { state in
            state.undelivered += content.count
            state.news.append(.received(content))
        }
    }

    /// A part of the content was written to the file.
    func written(_ count: Int64, _ progress: TransferProgress.Snapshot, of task: SessionTask) {
        add(to: task) { state in
            if case .written(let before, _)? = state.news.last {
                state.news[state.news.count - 1] = .written(before + count, progress)
            } else {
                state.news.append(.written(count, progress))
            }
        }
    }

    /// A download continues where an earlier one stopped.
    func resumed(at offset: Int64, total: Int64?, of task: SessionTask) {
        add(to: task) { $0.news.append(.resumed(offset, total: total)) }
    }

    /// The content goes to a file, as the delegate wanted.
    func becameDownload(_ task: SessionTask) { add(to: task) { $0.news.append(.becameDownload) } }

    /// Whether more content may come; where not, `resume` is called when it may.
    func hasRoom(orCall resume: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.undelivered >= Self.limit else { return true }
            state.resume = resume
            return false
        }
    }

    /// Returns when the delegate has got everything that has happened.
    func delivered() async {
        await withUnsafeContinuation { continuation in
            let isDelivered = state.withLock { state in
                guard state.isDelivering else { return true }
                state.listeners.append(continuation)
                return false
            }
            if isDelivered { continuation.resume() }
        }
    }

    // MARK: Delivery

    private func add(to task: SessionTask, _ change: (inout State) -> Void) {
        let begins = state.withLock { state in
            change(&state)
            guard !state.isDelivering, !state.news.isEmpty else { return false }
            state.isDelivering = true
            return true
        }
        if begins { Task { await self.deliver(to: task) } }
    }

    private func deliver(to task: SessionTask) async {
        while let news = next() {
            for one in news {
                switch one {
                case .sent(let count, let progress):
                    await delegate.task(task, didSendBodyBytes: count, progress: progress)
                case .received(let content):
                    await delegate.task(task, didReceiveContent: content)
                    heard(content.count)
                case .written(let count, let progress):
                    await delegate.task(task, didWriteFileBytes: count, progress: progress)
                case .resumed(let offset, let total):
                    await delegate.task(task, didResumeAt: offset, expectedTotal: total)
                case .becameDownload: await delegate.taskDidBecomeDownload(task)
                }
            }
        }
    }

    /// What has happened meanwhile; nil where that is nothing, and what waited for that continues.
    private func next() -> [News]? {
        let (news, listeners): ([News]?, [UnsafeContinuation<Void, Never>]) = state.withLock { state in
            guard state.news.isEmpty else {
                defer { state.news = [] }
                return (state.news, [])
            }
            state.isDelivering = false
            defer { state.listeners = [] }
            return (nil, state.listeners)
        }
        for listener in listeners { listener.resume() }
        return news
    }

    private func heard(_ count: Int) {
        let resume: (@Sendable () -> Void)? = state.withLock { state in
            state.undelivered -= count
            return state.undelivered < Self.limit / 2 ? state.resume.take() : nil
        }
        resume?()
    }
}
