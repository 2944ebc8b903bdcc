// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

/// How a task ended.
public struct TaskOutcome: Sendable {
    /// The head of the last response; nil where none came.
    public var response: SessionResponse?
    /// The content, where it was kept in memory.
    public var data: Data?
    /// Where a download lies now.
    public var filePath: String?
    /// What a download that failed can be gone on with, where that was wanted and the server allows it.
    public var resumeRecord: ResumeRecord?
    /// Why it failed; nil where the response is complete.
    ///
    /// A status such as 404 is no failure here: serializers judge it.
    public var error: SessionError?
    /// One for each exchange: the first request, then redirects, authentications and retries.
    public var metrics: [TransferMetrics]

    init(
        response: SessionResponse? = nil, data: Data? = nil, filePath: String? = nil,
        error: SessionError? = nil,
        metrics: [TransferMetrics] = []
    ) {
        self.response = response
        self.data = data
        self.filePath = filePath
        self.error = error
        self.metrics = metrics
    }
}
