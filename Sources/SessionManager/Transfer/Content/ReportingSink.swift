// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// Reports to a delegate what a sink consumes; on the loop's thread.
final class ReportingSink: ContentSink {
    private let target: any ContentSink
    private let report: ByteReport
    private let task: SessionTask
    /// Bytes in the file so far, and in all; nil where the content goes to no file.
    private var file: TransferProgress.Snapshot?
    /// Resumes the transfer.
    private let resume: @Sendable () -> Void

    /// - Parameter file: the file, where the target is one, as it is before the first byte.
    init(
        _ target: any ContentSink, _ report: ByteReport, of task: SessionTask,
        file: TransferProgress.Snapshot?, resume: @escaping @Sendable () -> Void
    ) {
        self.target = target
        self.report = report
        self.task = task
        self.file = file
        self.resume = resume
    }

    func begin(length: Int64?) throws(SessionError) {
        if let length, let before = file?.completedBytes { file?.totalBytes = before + length }
        try target.begin(length: length)
    }

    func consume(_ bytes: UnsafeRawBufferPointer) throws(SessionError) -> SinkAnswer {
        guard report.hasRoom(orCall: resume), try target.consume(bytes) == .consumed else { return .full }
        guard !bytes.isEmpty else { return .consumed }
        if var file {
            file.completedBytes += Int64(bytes.count)
            self.file = file
            report.written(Int64(bytes.count), file, of: task)
        } else {
            report.received(Data(bytes), of: task)
        }
        return .consumed
    }
}
