// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

/// How a task ended.
public struct TaskOutcome: Sendable {
    private struct Contents {
        var response: SessionResponse?
        var data: Data?
        var filePath: String?
        var resumeRecord: ResumeRecord?
        var error: SessionError?
        /// What was made of the content already.
        var serialized: Shared<SerializedContent>?
        /// By reference: they are copied only on demand.
        var metrics: [Shared<TransferMetrics>]
    }

    /// By reference: an outcome is passed on often, and hardly ever changed.
    private var contents: Shared<Contents>

    /// The head of the last response; nil where none came.
    public var response: SessionResponse? {
        get { contents.value.response }
        set { change { $0.response = newValue } }
    }
    /// The content, where it was kept in memory.
    public var data: Data? {
        get { contents.value.data }
        set { change { $0.data = newValue } }
    }
    /// Where a download lies now.
    public var filePath: String? {
        get { contents.value.filePath }
        set { change { $0.filePath = newValue } }
    }
    /// What a failed download can be resumed with, where that was wanted and the server allows it.
    public var resumeRecord: ResumeRecord? {
        get { contents.value.resumeRecord }
        set { change { $0.resumeRecord = newValue } }
    }
    /// Why it failed; nil where the response is complete.
    ///
    /// A status such as 404 is no failure here: serializers judge it.
    public var error: SessionError? {
        get { contents.value.error }
        set { change { $0.error = newValue } }
    }
    /// One for each exchange: the first request, then redirects, authentications and retries.
    public var metrics: [TransferMetrics] {
        get { contents.value.metrics.map(\.value) }
        set { change { $0.metrics = newValue.map { Shared($0) } } }
    }

    /// What was made of the content before the task ended; nil where nothing was.
    var serialized: SerializedContent? { contents.value.serialized?.value }

    init(
        response: SessionResponse? = nil, data: Data? = nil, filePath: String? = nil,
        error: SessionError? = nil, serialized: Shared<SerializedContent>? = nil,
        metrics: [Shared<TransferMetrics>] = []
    ) {
        contents = Shared(
            Contents(
                response: response, data: data, filePath: filePath, error: error, serialized: serialized,
                metrics: metrics))
    }

    /// Has the metrics of all exchanges, as they were measured.
    mutating func setMetrics(_ metrics: [Shared<TransferMetrics>]) {
        guard contents.value.metrics.count != metrics.count else { return }
        change { $0.metrics = metrics }
    }

    /// Content up to so many bytes costs less to copy or to decode than a change of threads.
    static var smallContent: Int { 16 << 10 }

    /// Whether there is at most ``smallContent``.
    var isSmall: Bool { (data?.count ?? 0) <= Self.smallContent }

    private mutating func change(_ body: (inout Contents) -> Void) {
        var contents = self.contents.value
        body(&contents)
        self.contents = Shared(contents)
    }
}

extension TaskOutcome: CustomStringConvertible {
    /// Status, size, place and error, for a log; no content and no header fields, which may be secret.
    public var description: String {
        var words: [String] = []
        if let status = response?.statusCode { words.append("status \(status)") }
        if let data { words.append("\(data.count) bytes") }
        if let filePath { words.append(filePath) }
        words.append(error.map { "\($0.code): \($0)" } ?? "complete")
        return words.joined(separator: ", ")
    }
}
