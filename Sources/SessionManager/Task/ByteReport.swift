// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Synchronization

/// Tells a delegate what happens to the bytes of one task: in order, one thing after the other, and off the
/// loop.
///
/// Of the turns of a download every delegate is told, of the bytes themselves who wants to hear of them.
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
        /// Bytes of content that the delegate has not heard of.
        var untold = 0
        var isTelling = false
        /// Lets a transfer go on that is too far ahead.
        var resume: (@Sendable () -> Void)?
        /// Wait until everything has been told.
        var listeners: [UnsafeContinuation<Void, Never>] = []
        /// How much of the body has been told.
        var sent: Int64 = 0
    }

    /// A transfer that is so many bytes ahead of the delegate pauses: 256 KiB, as before the reader of a
    /// stream.
    private static let limit = 256 << 10
    private let delegate: any SessionDelegate
    /// Whether the delegate hears of sent, received and written bytes.
    let hearsOfBytes: Bool
    private let state = Mutex(State())

    init(_ delegate: any SessionDelegate, hearsOfBytes: Bool) {
        self.delegate = delegate
        self.hearsOfBytes = hearsOfBytes
    }

    // MARK: What happens, on the loop's thread

    /// So much of the body has gone by now.
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
            state.untold += content.count
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

    /// A download goes on where an earlier one stopped.
    func resumed(at offset: Int64, total: Int64?, of task: SessionTask) {
        add(to: task) { $0.news.append(.resumed(offset, total: total)) }
    }

    /// The content goes to a file, as the delegate wanted.
    func becameDownload(_ task: SessionTask) { add(to: task) { $0.news.append(.becameDownload) } }

    /// Whether more content may come; where not, `resume` is called when it may.
    func hasRoom(orCall resume: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.untold >= Self.limit else { return true }
            state.resume = resume
            return false
        }
    }

    /// Returns when the delegate has heard of everything that has happened.
    func told() async {
        await withUnsafeContinuation { continuation in
            let isTold = state.withLock { state in
                guard state.isTelling else { return true }
                state.listeners.append(continuation)
                return false
            }
            if isTold { continuation.resume() }
        }
    }

    // MARK: Telling

    private func add(to task: SessionTask, _ change: (inout State) -> Void) {
        let begins = state.withLock { state in
            change(&state)
            guard !state.isTelling, !state.news.isEmpty else { return false }
            state.isTelling = true
            return true
        }
        if begins { Task { await self.tell(task) } }
    }

    private func tell(_ task: SessionTask) async {
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
            state.isTelling = false
            defer { state.listeners = [] }
            return (nil, state.listeners)
        }
        for listener in listeners { listener.resume() }
        return news
    }

    private func heard(_ count: Int) {
        let resume: (@Sendable () -> Void)? = state.withLock { state in
            state.untold -= count
            return state.untold < Self.limit / 2 ? state.resume.take() : nil
        }
        resume?()
    }
}
