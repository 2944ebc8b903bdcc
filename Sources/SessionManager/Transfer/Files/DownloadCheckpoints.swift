// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import SessionCore
import Synchronization

/// Keeps the ``ResumeFile`` of a download up to date while it runs; on the loop's thread.
///
/// The record is there before the first byte, and counts the synced bytes every few MiB.
final class DownloadCheckpoints {
    /// What was received since the last count is lost with the power: 8 MiB.
    static let distance: Int64 = 8 << 20

    let file: ResumeFile
    private let reactor: Reactor
    /// The download that the file is about; nil for none.
    private var record: ResumeRecord?
    private var counted: Int64 = 0
    private var isCounting = false
    /// Which of the task's downloads is written down: late writers of an earlier one write nothing.
    private let generation = Generation()

    /// Nil where the options name no file.
    init?(_ options: TaskOptions, reactor: Reactor) {
        guard let file = ResumeFile(options) else { return nil }
        self.file = file
        self.reactor = reactor
    }

    /// A download begins, or continues, with as many bytes as the record counts.
    ///
    /// - Throws: where the file cannot be written, since the download could not be resumed.
    func begin(_ record: ResumeRecord) throws(SessionError) {
        self.record = record
        counted = record.receivedBytes
        let file = file
        let written = generation.next {
            Result { () throws(SessionError) in try file.write(record, isSynced: false) }
        }
        try written.get()
    }

    /// A download continues whose record is in the file already.
    func resume(_ record: ResumeRecord) {
        self.record = record
        counted = record.receivedBytes
    }

    /// Nothing can be resumed.
    func forget() {
        record = nil
        let file = file
        generation.next { file.remove() }
    }

    /// More has been written.
    func recordProgress(of sink: FileSink) {
        guard !isCounting, let record, sink.count &- counted >= Self.distance,
            let next = try? record.with(receivedBytes: sink.count), let number = sink.duplicate()
        else { return }
        isCounting = true
        let (file, generation, current) = (file, generation, generation.number)
        let me = LoopBound(self, to: reactor)
        Task {
            await FileThread.run {
                defer { close(number) }
                guard fdatasync(number) == 0 else { return }
                generation.only(current) { try? file.write(next, isSynced: true) }
            }
            me.perform { checkpoints in
                checkpoints.isCounting = false
                checkpoints.counted = max(checkpoints.counted, next.receivedBytes)
            }
        }
    }
}

/// Has late writers find that they are late.
private final class Generation: Sendable {
    private let current = Mutex(0)

    var number: Int { current.withLock { $0 } }

    /// Ends what was before.
    @discardableResult
    func next<Result: Sendable>(_ body: () -> Result) -> Result {
        current.withLock { number in
            number += 1
            return body()
        }
    }

    /// Does it unless its time is over.
    func only(_ number: Int, _ body: () -> Void) { current.withLock { if $0 == number { body() } } }
}
