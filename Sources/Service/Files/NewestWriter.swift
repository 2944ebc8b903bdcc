// SPDX-License-Identifier: Apache-2.0

package import EventLoop

/// Writes the newest of what it is given into a file, on the thread for files.
///
/// While one content is being written, the newest one waits and takes the place of those before it: a disk that is slower
/// than the network makes the file late, and nothing grows. To be used on the loop's thread.
package final class NewestWriter {
    private let file: AtomicFile
    private let files: Reactor
    private let loop: Reactor
    private let report: (String) -> Void
    private var waiting: [UInt8]?
    private var isWriting = false
    private var isFailing = false
    private var ends: [() -> Void] = []
    /// Contents that were replaced before they were written.
    package private(set) var skipped: UInt64 = 0

    /// - Parameter report: Gets a sentence when writing begins to fail, and when it works again.
    package init(_ path: String, loop: Reactor, files: Reactor, report: @escaping (String) -> Void) {
        file = AtomicFile(path)
        self.loop = loop
        self.files = files
        self.report = report
    }

    /// Writes it as soon as what is being written is done.
    package func write(_ bytes: [UInt8]) {
        if waiting != nil { skipped += 1 }
        waiting = bytes
        next()
    }

    private func next() {
        guard !isWriting, let bytes = waiting else { return }
        waiting = nil
        isWriting = true
        let (file, bound) = (file, LoopBound(self, to: loop))
        files.perform {
            let problem = file.write(bytes)
            bound.perform { $0.ended(problem) }
        }
    }

    private func ended(_ problem: String?) {
        isWriting = false
        if let problem {
            // Once, not at each change.
            if !isFailing { report(problem) }
        } else if isFailing {
            report("\(file.path) can be written again")
        }
        isFailing = problem != nil
        next()
        guard !isWriting else { return }
        let ends = ends
        self.ends = []
        for end in ends { end() }
    }

    /// Calls back when everything is written.
    package func finish(_ done: @escaping () -> Void) {
        if isWriting { ends.append(done) } else { done() }
    }

    /// Takes the file away after the last write, and calls back.
    package func remove(_ done: @escaping () -> Void) {
        let (file, bound) = (file, LoopBound(Completion(done), to: loop))
        finish { [files] in
            files.perform {
                file.remove()
                bound.perform { $0.body() }
            }
        }
    }

    private final class Completion {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }
}
