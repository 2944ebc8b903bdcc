// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

/// Takes part in what a manager's tasks do.
///
/// Every method has a default that changes nothing. They are called off the transferring thread; a transfer
/// waits for the answer and its time-outs stand still meanwhile. Calls for one task come one after the other,
/// those for different tasks may overlap. Reports of bytes (``hearsOfBytes``) precede those of later events.
public protocol SessionDelegate: Sendable {
    /// Whether ``session(_:didReceive:)`` is asked about servers instead of the security policy; no.
    ///
    /// Read when the delegate is set. Needs libcurl with OpenSSL 3: https fails otherwise (`missingLibrary`).
    var asksAboutServers: Bool { get }
    /// Whether ``task(_:didSendBodyBytes:progress:)``, ``task(_:didReceiveContent:)`` and
    /// ``task(_:didWriteFileBytes:progress:)`` are called; no.
    ///
    /// Read when the delegate is set. Where it is no, nothing is copied or counted for them.
    var hearsOfBytes: Bool { get }
    /// A server shows its certificates (``AuthenticationChallenge/peerTrust``), not verified yet.
    ///
    /// The security policy is not asked. The credential `serverTrust` accepts this certificate for this
    /// server, for all tasks of the session; `performDefaultHandling` has the policy's trust roots and the
    /// host's name judge; everything else ends the task. Each connection is asked about until its certificate
    /// has been accepted; one that is used again is not. The first bytes of the request are sent after the
    /// answer, on a connection of their own.
    ///
    /// - Throws: what becomes the error of the task.
    func session(
        _ session: Session, didReceive challenge: AuthenticationChallenge
    ) async throws -> ChallengeDisposition
    /// A redirect is about to be followed.
    ///
    /// - Returns: what is to be requested: the proposal, something else, or nil to take the redirect itself
    ///   as the response. Secrets of the proposal and of the sent request stay with their origins.
    func task(
        _ task: SessionTask, willRedirectTo proposed: SessionRequest, from request: SessionRequest,
        response: SessionResponse
    ) async -> SessionRequest?
    /// A server asks for credentials.
    ///
    /// - Throws: what becomes the error of the task.
    func task(
        _ task: SessionTask, didReceive challenge: AuthenticationChallenge
    ) async throws -> ChallengeDisposition
    /// The body has to be sent again and cannot be rewound.
    ///
    /// - Returns: a new one; nil fails the task with ``SessionError/Code/requestBodyStreamExhausted``.
    func task(_ task: SessionTask, needsNewBodyFor request: SessionRequest) async -> RequestBody?
    /// The head of a response has come.
    ///
    /// Not asked about redirects that are followed and challenges that are answered.
    func task(_ task: SessionTask, didReceive response: SessionResponse) async -> ResponseDisposition
    /// Bytes of the body were handed to the connection.
    ///
    /// Called with several parts together where the delegate is slower than the connection. What is sent
    /// again, for instance after a redirect, is reported when it exceeds what has been reported.
    ///
    /// - Parameters:
    ///   - count: bytes since the last call, at least 1.
    ///   - progress: the bytes so far, these included, and in all.
    func task(_ task: SessionTask, didSendBodyBytes count: Int64, progress: TransferProgress.Snapshot) async
    /// A part of the content has come, decoded, which goes to memory or to the reader of a stream; not empty.
    ///
    /// The parts together are the content, in order. A transfer that is 256 KiB ahead of the delegate pauses.
    /// Followed redirects and the content of challenges are not reported.
    func task(_ task: SessionTask, didReceiveContent content: Data) async
    /// A part of the content was written to the file of a download.
    ///
    /// Called with several parts together where the delegate is slower than the connection.
    ///
    /// - Parameters:
    ///   - count: bytes since the last call, at least 1.
    ///   - progress: the bytes of the file so far, those of an earlier download included, and in all.
    func task(_ task: SessionTask, didWriteFileBytes count: Int64, progress: TransferProgress.Snapshot) async
    /// A data task has become a download, as the delegate wanted.
    func taskDidBecomeDownload(_ task: SessionTask) async
    /// A download is complete and lies at a temporary path.
    ///
    /// - Returns: where it is to be moved; nil leaves that to the task's own destination.
    func task(
        _ task: SessionTask, didFinishDownloadingTo temporaryPath: String, response: SessionResponse
    ) async -> DownloadDestination?
    /// A download continues where an earlier one stopped.
    func task(_ task: SessionTask, didResumeAt offset: Int64, expectedTotal: Int64?) async
    /// The steps of a task have been measured: one entry for each exchange.
    func task(_ task: SessionTask, didCollect metrics: [TransferMetrics]) async
    /// A task has ended; its completion block is called next.
    func task(_ task: SessionTask, didCompleteWith error: SessionError?) async
    /// A session takes no more tasks, and all reports of the last of them have been made.
    func sessionDidBecomeInvalid(_ session: Session) async
}

/// What becomes of a response whose head has come.
public enum ResponseDisposition: Sendable {
    /// Its content is received.
    case allow
    /// The task fails with ``SessionError/Code/cancelled``.
    case cancel
    /// Its content goes to a file.
    case becomeDownload
}

extension SessionDelegate {
    /// No.
    public var asksAboutServers: Bool { false }
    /// No.
    public var hearsOfBytes: Bool { false }
    /// Leaves it to the trust roots.
    public func session(
        _ session: Session, didReceive challenge: AuthenticationChallenge
    ) async throws -> ChallengeDisposition { .performDefaultHandling }
    /// Follows.
    public func task(
        _ task: SessionTask, willRedirectTo proposed: SessionRequest, from request: SessionRequest,
        response: SessionResponse
    ) async -> SessionRequest? { proposed }
    /// Takes what is known otherwise: a proposed credential, or none.
    public func task(
        _ task: SessionTask, didReceive challenge: AuthenticationChallenge
    ) async throws -> ChallengeDisposition { .performDefaultHandling }
    /// Has none.
    public func task(_ task: SessionTask, needsNewBodyFor request: SessionRequest) async -> RequestBody? {
        nil
    }
    /// Allows.
    public func task(_ task: SessionTask, didReceive response: SessionResponse) async -> ResponseDisposition {
        .allow
    }
    /// Nothing.
    public func task(
        _ task: SessionTask, didSendBodyBytes count: Int64, progress: TransferProgress.Snapshot
    ) async {}
    /// Nothing.
    public func task(_ task: SessionTask, didReceiveContent content: Data) async {}
    /// Nothing.
    public func task(
        _ task: SessionTask, didWriteFileBytes count: Int64, progress: TransferProgress.Snapshot
    ) async {}
    /// Nothing.
    public func taskDidBecomeDownload(_ task: SessionTask) async {}
    /// Leaves it to the task.
    public func task(
        _ task: SessionTask, didFinishDownloadingTo temporaryPath: String, response: SessionResponse
    ) async -> DownloadDestination? { nil }
    /// Nothing.
    public func task(_ task: SessionTask, didResumeAt offset: Int64, expectedTotal: Int64?) async {}
    /// Nothing.
    public func task(_ task: SessionTask, didCollect metrics: [TransferMetrics]) async {}
    /// Nothing.
    public func task(_ task: SessionTask, didCompleteWith error: SessionError?) async {}
    /// Nothing.
    public func sessionDidBecomeInvalid(_ session: Session) async {}
}
