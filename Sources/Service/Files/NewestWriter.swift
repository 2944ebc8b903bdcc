// SPDX-License-Identifier: Apache-2.0

package import EventLoop

/// Writes the newest content into a file, on the thread for files.
///
/// During a write only the newest content waits, so nothing grows. A failed write, on a full disk for
/// instance, is repeated until it succeeds, and the outdated file is removed meanwhile. Used on the loop's
/// thread.
package final class NewestWriter {
    private let file: AtomicFile
    private let files: Reactor
    private let loop: Reactor
    private let report: (String) -> Void
    private var waiting: [UInt8]?
    private var isWriting = false
    private var isFailing = false
    private var ends: [() -> Void] = []
    private var retry: TimerID?
    /// The pause before the next attempt, in nanoseconds.
    private var pause = NewestWriter.firstPause
    private static let firstPause: Int64 = 1_000_000_000
    private static let longestPause: Int64 = 60_000_000_000
    /// Contents that were replaced before they were written.
    package private(set) var skipped: UInt64 = 0

    /// - Parameter report: gets a sentence when writing begins to fail, and when it works again.
    package init(_ path: String, loop: Reactor, files: Reactor, report: @escaping (String) -> Void) {
        file = AtomicFile(path)
        self.loop = loop
        self.files = files
        self.report = report
    }

    /// Writes the content after the current write.
    package func write(_ bytes: [UInt8]) {
        if waiting != nil { skipped += 1 }
        waiting = bytes
        next()
    }

    private func next() {
        guard !isWriting, let bytes = waiting else { return }
        waiting = nil
        cancelRetry()
        isWriting = true
        let (file, bound) = (file, LoopBound(self, to: loop))
        files.perform {
            let problem = file.write(bytes)
            if problem != nil { file.remove() }
            bound.perform { $0.ended(problem, bytes) }
        }
    }

    private func ended(_ problem: String?, _ bytes: [UInt8]) {
        isWriting = false
        if let problem {
            // Reported once, and not with each attempt.
            if !isFailing { report(problem) }
        } else if isFailing {
            report("\(file.path) can be written again")
        }
        isFailing = problem != nil
        next()
        guard !isWriting else { return }
        if isFailing, ends.isEmpty { tryLater(bytes) } else { pause = Self.firstPause }
        let ends = ends
        self.ends = []
        for end in ends { end() }
    }

    private func tryLater(_ bytes: [UInt8]) {
        waiting = bytes
        retry = loop.schedule(at: Reactor.now + pause) { [weak self] in
            self?.retry = nil
            self?.next()
        }
        pause = min(pause * 2, Self.longestPause)
    }

    private func cancelRetry() {
        if let retry { loop.cancel(retry) }
        retry = nil
    }

    /// Calls back when all contents are written, or the disk refuses them.
    package func finish(_ done: @escaping () -> Void) {
        cancelRetry()
        if isWriting { ends.append(done) } else { done() }
    }

    /// Removes the file after the last write, and calls back.
    package func remove(_ done: @escaping () -> Void) {
        let (file, bound) = (file, LoopBound(LoopCallback<Void> { _ in done() }, to: loop))
        finish { [files] in
            files.perform {
                file.remove()
                bound.perform { $0.call(()) }
            }
        }
    }
}
