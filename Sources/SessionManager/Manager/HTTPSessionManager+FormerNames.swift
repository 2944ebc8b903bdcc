// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

// Members that programs bring along from AFNetworking: the compiler says what is there instead.

extension HTTPSessionManager {
    /// AFNetworking's way to make a manager.
    @available(*, unavailable, message: "make one and keep it: `try HTTPSessionManager(baseURL: …)`")
    public static func manager() -> HTTPSessionManager? { nil }

    /// AFNetworking's monitor of the network.
    @available(
        *, unavailable,
        message: "use `ReachabilityManager.shared`; requests wait for the network by themselves (`queue`)"
    )
    public var reachabilityManager: Never? { nil }

    /// AFNetworking's way to end the session.
    @available(*, unavailable, message: "use `invalidate(cancellingTasks:resettingSession:)`")
    public func invalidateSessionCancelingTasks(_ cancels: Bool?, resetSession: Bool = false) {}
}

// AFNetworking's block setters, by their names in Objective-C and in Swift.
extension URLSessionManager {
    /// AFNetworking's callback: a session has ended.
    @available(*, unavailable, message: "set a `delegate` with sessionDidBecomeInvalid(_:)")
    public func setSessionDidBecomeInvalidBlock(_ block: (@Sendable (Session, SessionError?) -> Void)?) {}

    /// AFNetworking's callback in Swift: a session has ended.
    @available(*, unavailable, message: "set a `delegate` with sessionDidBecomeInvalid(_:)")
    public func setSessionDidBecomeInvalid(_ block: (@Sendable (Session, SessionError?) -> Void)?) {}

    /// AFNetworking's way to judge servers.
    @available(
        *, unavailable,
        message: "set `securityPolicy`, or a `delegate` with asksAboutServers and session(_:didReceive:for:)"
    )
    public func setSessionDidReceiveAuthenticationChallengeBlock(
        _ block: (@Sendable (Session, AuthenticationChallenge) -> ChallengeDisposition)?
    ) {}

    /// AFNetworking's way in Swift to judge servers.
    @available(
        *, unavailable,
        message: "set `securityPolicy`, or a `delegate` with asksAboutServers and session(_:didReceive:for:)"
    )
    public func setSessionDidReceiveAuthenticationChallenge(
        _ block: (@Sendable (Session, AuthenticationChallenge) -> ChallengeDisposition)?
    ) {}

    /// AFNetworking's way to answer challenges.
    @available(
        *, unavailable,
        message: "set a `delegate` with task(_:didReceive:), or `TaskOptions.challengeHandler`"
    )
    public func setAuthenticationChallengeHandler(
        _ block: (@Sendable (Session, SessionTask, AuthenticationChallenge) -> ChallengeDisposition)?
    ) {}

    /// AFNetworking's way to decide about redirects.
    @available(
        *, unavailable,
        message:
            "set a `delegate` with task(_:willRedirectTo:from:response:), or `TaskOptions.redirectHandler`"
    )
    public func setTaskWillPerformHTTPRedirectionBlock(
        _ block: (@Sendable (Session, SessionTask, SessionResponse, SessionRequest) -> SessionRequest?)?
    ) {}

    /// AFNetworking's way in Swift to decide about redirects.
    @available(
        *, unavailable,
        message:
            "set a `delegate` with task(_:willRedirectTo:from:response:), or `TaskOptions.redirectHandler`"
    )
    public func setTaskWillPerformHTTPRedirection(
        _ block: (@Sendable (Session, SessionTask, SessionResponse, SessionRequest) -> SessionRequest?)?
    ) {}

    /// AFNetworking's way to send a body again.
    @available(*, unavailable, message: "set a `delegate` with task(_:needsNewBodyFor:)")
    public func setTaskNeedNewBodyStreamBlock(_ block: (@Sendable (Session, SessionTask) -> RequestBody?)?) {}

    /// AFNetworking's way in Swift to send a body again.
    @available(*, unavailable, message: "set a `delegate` with task(_:needsNewBodyFor:)")
    public func setTaskNeedNewBodyStream(_ block: (@Sendable (Session, SessionTask) -> RequestBody?)?) {}

    /// AFNetworking's callback: the progress of a body.
    @available(
        *, unavailable,
        message:
            "set a `delegate` with task(_:didSendBodyBytes:progress:) and hearsOfBytes, or `TaskOptions.uploadProgress`"
    )
    public func setTaskDidSendBodyDataBlock(
        _ block: (@Sendable (Session, SessionTask, Int64, Int64, Int64) -> Void)?
    ) {}

    /// AFNetworking's callback in Swift: the progress of a body.
    @available(
        *, unavailable,
        message:
            "set a `delegate` with task(_:didSendBodyBytes:progress:) and hearsOfBytes, or `TaskOptions.uploadProgress`"
    )
    public func setTaskDidSendBodyData(
        _ block: (@Sendable (Session, SessionTask, Int64, Int64, Int64) -> Void)?
    ) {}

    /// AFNetworking's callback: a task has ended.
    @available(
        *, unavailable, message: "set a `delegate` with task(_:didCompleteWith:), or iterate over `events`"
    )
    public func setTaskDidCompleteBlock(
        _ block: (@Sendable (Session, SessionTask, SessionError?) -> Void)?
    ) {}

    /// AFNetworking's callback in Swift: a task has ended.
    @available(
        *, unavailable, message: "set a `delegate` with task(_:didCompleteWith:), or iterate over `events`"
    )
    public func setTaskDidComplete(_ block: (@Sendable (Session, SessionTask, SessionError?) -> Void)?) {}

    /// AFNetworking's way to get what was measured.
    @available(
        *, unavailable, message: "set a `delegate` with task(_:didCollect:), or read `SessionTask.metrics`"
    )
    public func setTaskDidFinishCollectingMetricsBlock(
        _ block: (@Sendable (Session, SessionTask, [TransferMetrics]) -> Void)?
    ) {}

    /// AFNetworking's way in Swift to get what was measured.
    @available(
        *, unavailable, message: "set a `delegate` with task(_:didCollect:), or read `SessionTask.metrics`"
    )
    public func setTaskDidFinishCollectingMetrics(
        _ block: (@Sendable (Session, SessionTask, [TransferMetrics]) -> Void)?
    ) {}

    /// AFNetworking's way to judge a head.
    @available(*, unavailable, message: "set a `delegate` with task(_:didReceive:)")
    public func setDataTaskDidReceiveResponseBlock(
        _ block: (@Sendable (Session, SessionTask, SessionResponse) -> ResponseDisposition)?
    ) {}

    /// AFNetworking's way in Swift to judge a head.
    @available(*, unavailable, message: "set a `delegate` with task(_:didReceive:)")
    public func setDataTaskDidReceiveResponse(
        _ block: (@Sendable (Session, SessionTask, SessionResponse) -> ResponseDisposition)?
    ) {}

    /// AFNetworking's callback: content goes to a file from now on.
    @available(*, unavailable, message: "set a `delegate` with taskDidBecomeDownload(_:)")
    public func setDataTaskDidBecomeDownloadTaskBlock(
        _ block: (@Sendable (Session, SessionTask, SessionTask) -> Void)?
    ) {}

    /// AFNetworking's callback in Swift: content goes to a file from now on.
    @available(*, unavailable, message: "set a `delegate` with taskDidBecomeDownload(_:)")
    public func setDataTaskDidBecomeDownloadTask(
        _ block: (@Sendable (Session, SessionTask, SessionTask) -> Void)?
    ) {}

    /// AFNetworking's way to see content as it comes.
    @available(
        *, unavailable,
        message:
            "set a `delegate` with task(_:didReceiveContent:) and hearsOfBytes, or use stream(for:options:)"
    )
    public func setDataTaskDidReceiveDataBlock(_ block: (@Sendable (Session, SessionTask, Data) -> Void)?) {}

    /// AFNetworking's way in Swift to see content as it comes.
    @available(
        *, unavailable,
        message:
            "set a `delegate` with task(_:didReceiveContent:) and hearsOfBytes, or use stream(for:options:)"
    )
    public func setDataTaskDidReceiveData(_ block: (@Sendable (Session, SessionTask, Data) -> Void)?) {}

    /// AFNetworking's way to decide what is cached.
    @available(*, unavailable, message: "set `cachedResponseHandler`, or `TaskOptions.cachedResponseHandler`")
    public func setDataTaskWillCacheResponseBlock(
        _ block: (@Sendable (Session, SessionTask, SessionResponse) -> SessionResponse?)?
    ) {}

    /// AFNetworking's way in Swift to decide what is cached.
    @available(*, unavailable, message: "set `cachedResponseHandler`, or `TaskOptions.cachedResponseHandler`")
    public func setDataTaskWillCacheResponse(
        _ block: (@Sendable (Session, SessionTask, SessionResponse) -> SessionResponse?)?
    ) {}

    /// AFNetworking's way to choose a download's destination.
    @available(
        *, unavailable,
        message:
            "set a `delegate` with task(_:didFinishDownloadingTo:response:), or give the task a destination"
    )
    public func setDownloadTaskDidFinishDownloadingBlock(
        _ block: (@Sendable (Session, SessionTask, String) -> DownloadDestination?)?
    ) {}

    /// AFNetworking's way in Swift to choose a download's destination.
    @available(
        *, unavailable,
        message:
            "set a `delegate` with task(_:didFinishDownloadingTo:response:), or give the task a destination"
    )
    public func setDownloadTaskDidFinishDownloading(
        _ block: (@Sendable (Session, SessionTask, String) -> DownloadDestination?)?
    ) {}

    /// AFNetworking's callback: the progress of a file.
    @available(
        *, unavailable,
        message:
            "set a `delegate` with task(_:didWriteFileBytes:progress:) and hearsOfBytes, or `TaskOptions.downloadProgress`"
    )
    public func setDownloadTaskDidWriteDataBlock(
        _ block: (@Sendable (Session, SessionTask, Int64, Int64, Int64) -> Void)?
    ) {}

    /// AFNetworking's callback in Swift: the progress of a file.
    @available(
        *, unavailable,
        message:
            "set a `delegate` with task(_:didWriteFileBytes:progress:) and hearsOfBytes, or `TaskOptions.downloadProgress`"
    )
    public func setDownloadTaskDidWriteData(
        _ block: (@Sendable (Session, SessionTask, Int64, Int64, Int64) -> Void)?
    ) {}

    /// AFNetworking's callback: a download continues.
    @available(
        *, unavailable, message: "set a `delegate` with task(_:didResumeAt:expectedTotal:) and hearsOfBytes"
    )
    public func setDownloadTaskDidResumeBlock(
        _ block: (@Sendable (Session, SessionTask, Int64, Int64) -> Void)?
    ) {}

    /// AFNetworking's callback in Swift: a download continues.
    @available(
        *, unavailable, message: "set a `delegate` with task(_:didResumeAt:expectedTotal:) and hearsOfBytes"
    )
    public func setDownloadTaskDidResume(
        _ block: (@Sendable (Session, SessionTask, Int64, Int64) -> Void)?
    ) {}

    /// AFNetworking's callback: a background session has no more events.
    @available(
        *, unavailable,
        message:
            "there are no background sessions: requests that outlast the process go into the library Outbox"
    )
    public func setDidFinishEventsForBackgroundURLSessionBlock(_ block: (@Sendable (Session) -> Void)?) {}

    /// AFNetworking's callback in Swift: a background session has no more events.
    @available(
        *, unavailable,
        message:
            "there are no background sessions: requests that outlast the process go into the library Outbox"
    )
    public func setDidFinishEventsForBackgroundURLSession(_ block: (@Sendable (Session) -> Void)?) {}
}
