// SPDX-License-Identifier: Apache-2.0

public import Reachability
public import SessionCore

/// What one task is to do differently from the others of its manager.
public struct TaskOptions: Sendable {
    /// How urgent it is among those which wait in the queue or for the same host, 0 to 1; 0.5.
    public var priority: Float = 0.5
    /// Called as the body goes, on ``progressQueue``; the last call has the last byte.
    public var uploadProgress: (@Sendable (TransferProgress.Snapshot) -> Void)?
    /// Called as the content comes, on ``progressQueue``; the last call has the last byte.
    public var downloadProgress: (@Sendable (TransferProgress.Snapshot) -> Void)?
    /// Where progress is reported; nil takes the manager's completion queue.
    public var progressQueue: DeliveryQueue?
    /// Where the completion block is called; nil takes the manager's.
    public var completionQueue: DeliveryQueue?
    /// Counts the completion block, so that somebody can wait for several.
    public var completionGroup: CompletionGroup?
    /// Changes the request before each try and decides whether a failure is tried again; comes after the manager's own.
    public var interceptor: (any RequestInterceptor)?
    /// Decides about redirects before the manager's delegate is asked.
    public var redirectHandler: (any RedirectHandler)?
    /// Has the last word about what is stored in the response cache, instead of the manager's own.
    public var cachedResponseHandler: (any CachedResponseHandler)?
    /// Answers challenges before the manager's delegate is asked.
    public var challengeHandler: ChallengeHandler?
    /// Whether the file of a download that fails or is cancelled is kept, with a ``TaskOutcome/resumeRecord`` to go on from; no.
    public var keepsPartialFile = false
    /// Where a download's content is written until it is complete; nil takes a new file in the directory for temporary files.
    ///
    /// On the file system of the destination, the move at the end is a rename.
    public var partialFile: String?
    /// Whether a download goes on also where nothing tells that the server's file is still the same (RFC 9110 §8.8); no.
    ///
    /// For those who compare a checksum of the whole at the end: a part of one version with the rest of another goes unnoticed otherwise.
    public var goesOnWithoutValidator = false
    /// Where a download writes down what a later process can go on from; nil writes nothing.
    ///
    /// The file is there from the head of the response on, and is removed when the download is complete. A download that finds it goes on
    /// where the earlier one was cut off, however that ended: by a failure, SIGKILL or a loss of power. That takes the same URL and the same
    /// ``partialFile``, which is beside the file with `.part` at the end of its name unless named, and is kept as with
    /// ``keepsPartialFile``. Where the content has changed, or the server has no ranges, it comes anew as a whole. Remove both files to
    /// begin from the start.
    public var resumeFile: String?
    /// Sent when the server asks for it; offered to handlers as the proposed credential.
    public var credential: Credential?

    /// What it asks of the queue; nil for nothing.
    var queueing: QueueOptions?

    /// The manager's own ways.
    public init() {}
}

/// Answers a challenge of a server.
///
/// What it throws becomes the error of the task.
public typealias ChallengeHandler = @Sendable (AuthenticationChallenge) async throws -> ChallengeDisposition
