// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import Reachability
public import SessionCore

/// What one task is to do differently from the others of its manager.
public struct TaskOptions: Sendable, Configurable {
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
    /// Counts the completion block, so that a caller can wait for several.
    public var completionGroup: CompletionGroup?
    /// Changes the request before each try and decides about retries, after the manager's own.
    public var interceptor: (any RequestInterceptor)?
    /// Decides about redirects before the manager's delegate is asked.
    public var redirectHandler: (any RedirectHandler)?
    /// Decides what is stored in the response cache, instead of the manager's own handler.
    public var cachedResponseHandler: (any CachedResponseHandler)?
    /// Answers challenges before the manager's delegate is asked.
    public var challengeHandler: ChallengeHandler?
    /// Whether a failed or cancelled download keeps its file, with a ``TaskOutcome/resumeRecord`` for it; no.
    public var keepsPartialFile = false
    /// Where a download is written until it is complete; nil takes a new file in the temporary directory.
    ///
    /// On the file system of the destination, the move at the end is a rename. It is locked while it is
    /// written (flock(2)): a second download to it fails with ``SessionError/Code/cannotCreateFile``.
    public var partialFile: String?
    /// Whether the caller holds the lock of ``partialFile`` already.
    package var isPartialFileLocked = false
    /// Whether a download continues where nothing shows the server's file unchanged (RFC 9110 §8.8); no.
    ///
    /// For programs that verify a checksum at the end: mixed parts of two versions go unnoticed otherwise.
    public var continuesWithoutValidator = false
    /// Where a download writes down what a later process can continue from; nil writes nothing.
    ///
    /// The file is there from the head of the response on, and is removed when the download is complete. A
    /// download that finds it continues where the earlier one was cut off, however that ended: by a failure,
    /// SIGKILL or a loss of power. That takes the same URL and the same ``partialFile``, which is beside the
    /// file with `.part` at the end of its name unless named, and is kept as with ``keepsPartialFile``. What
    /// has changed, or cannot be sent in part, comes anew. Remove both files to begin from the start. A
    /// download that is begun while another one writes the same part fails, in this process or another.
    public var resumeFile: String?
    /// Other URLs of the content of a download, http or https; none.
    ///
    /// Asked in their order where the request's URL cannot be reached, is not trusted, falls silent, answers
    /// with a status that is not acceptable, or breaks off again and again; a lost network is waited for as
    /// always. What one has given is continued at another where the ``DownloadDestination`` has a checksum,
    /// or where both send the same strong `ETag`; else the content comes anew. A URL whose content has
    /// another checksum is not asked again. Interceptors are asked about retries when each URL has failed.
    ///
    /// Header fields go to each of them, secrets (``SessionCore/SensitiveFields``) and ``credential`` only to
    /// the request's own origin. The response's URL tells which one answered, ``TaskStep/mirror(_:after:)``
    /// each change.
    public var mirrors: [URL] = []
    /// Sent when the server asks for it; offered to handlers as the proposed credential.
    public var credential: Credential?

    /// What it asks of the queue; nil for nothing.
    var queueing: QueueOptions?

    /// The manager's own settings.
    public init() {}
}

/// Answers a challenge of a server; what it throws becomes the error of the task.
public typealias ChallengeHandler = @Sendable (AuthenticationChallenge) async throws -> ChallengeDisposition

/// What a task asks of its queue; an object, since most tasks ask for nothing.
final class QueueOptions: Sendable {
    struct Values: Sendable {
        var networkCondition = NetworkCondition.any
        var requiresInternet = false
        var waitsForNetwork = true
        var offlineLimit: Duration?
        var lane: String?
        var dependencies: [SessionTask] = []
        var ignoresFailures = false
        var isIdempotent: Bool?
    }

    /// Nothing.
    static let nothing = QueueOptions(Values())
    let values: Values
    init(_ values: Values) { self.values = values }
}

extension TaskOptions {
    var queueValues: QueueOptions.Values {
        get { (queueing ?? .nothing).values }
        set { queueing = QueueOptions(newValue) }
    }

    /// Which networks it may use; any.
    ///
    /// Asked again at each change of the path. A request that may not go over an expensive network
    /// (``SessionCore/RequestOptions/allowsExpensiveNetwork``) does not, whatever this says.
    public var networkCondition: NetworkCondition {
        get { queueValues.networkCondition }
        set { queueValues.networkCondition = newValue }
    }

    /// Whether it waits until the internet was found behind the network; no.
    ///
    /// Has an effect only with a probe: see ``RequestQueue``.
    public var requiresInternet: Bool {
        get { queueValues.requiresInternet }
        set { queueValues.requiresInternet = newValue }
    }

    /// Whether it waits where there is no network that it may use; yes.
    ///
    /// Otherwise it fails at once with ``SessionError/Code/notConnectedToInternet`` and the reason.
    public var waitsForNetwork: Bool {
        get { queueValues.waitsForNetwork }
        set { queueValues.waitsForNetwork = newValue }
    }

    /// How long the network may hold it at a stretch; nil takes the queue's limit, which is none unless set.
    ///
    /// After that it fails with the error that it was held for, or with
    /// ``SessionError/Code/notConnectedToInternet``.
    public var offlineLimit: Duration? {
        get { queueValues.offlineLimit }
        set { queueValues.offlineLimit = newValue }
    }

    /// Tasks of one lane run one after the other, in the order in which they are resumed; nil for no lane.
    public var lane: String? {
        get { queueValues.lane }
        set { queueValues.lane = newValue }
    }

    /// Tasks, of any manager, which have to complete before this one starts.
    ///
    /// Where one of them fails, or gets a response that its serializer does not accept, this one fails with
    /// ``SessionError/Code/dependencyFailed``, unless ``ignoresFailedDependencies``. All are waited for.
    public var dependencies: [SessionTask] {
        get { queueValues.dependencies }
        set { queueValues.dependencies = newValue }
    }

    /// Whether it starts when its ``dependencies`` have completed, however they ended; no.
    public var ignoresFailedDependencies: Bool {
        get { queueValues.ignoresFailures }
        set { queueValues.ignoresFailures = newValue }
    }

    /// Whether a request of unknown outcome may be sent again; nil goes by the method (RFC 9110 §9.2.2), and
    /// lets a request with an `Idempotency-Key` be sent again whatever its method.
    public var isIdempotent: Bool? {
        get { queueValues.isIdempotent }
        set { queueValues.isIdempotent = newValue }
    }
}
