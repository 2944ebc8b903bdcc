// SPDX-License-Identifier: Apache-2.0

public import SessionCore

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

    static let defaults = Values()
    let values: Values
    init(_ values: Values) { self.values = values }
}

extension TaskOptions {
    var queueValues: QueueOptions.Values {
        get { queueing?.values ?? QueueOptions.defaults }
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
    /// Has an effect only where somebody looks: see ``RequestQueue``.
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
    /// After that it fails with the error that it was held for, or with ``SessionError/Code/notConnectedToInternet``.
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
    /// Where one of them fails, or gets a response that its manager's serializer does not accept, this one fails with
    /// ``SessionError/Code/dependencyFailed``, unless ``ignoresFailedDependencies`` is set. One that is never resumed is waited for.
    public var dependencies: [SessionTask] {
        get { queueValues.dependencies }
        set { queueValues.dependencies = newValue }
    }

    /// Whether it starts when its ``dependencies`` have completed, however they ended; no.
    public var ignoresFailedDependencies: Bool {
        get { queueValues.ignoresFailures }
        set { queueValues.ignoresFailures = newValue }
    }

    /// Whether the request may be sent again when nobody knows what became of it; nil goes by the method (RFC 9110 §9.2.2).
    public var isIdempotent: Bool? {
        get { queueValues.isIdempotent }
        set { queueValues.isIdempotent = newValue }
    }
}
