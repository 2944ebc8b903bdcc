// SPDX-License-Identifier: Apache-2.0

public import ReachabilityCore

// Names that programs bring along from elsewhere: the compiler says what they are called here, and changes them when asked to.

/// AFNetworking's name of ``ReachabilityManager``.
@available(*, unavailable, renamed: "ReachabilityManager")
public typealias AFNetworkReachabilityManager = ReachabilityManager

/// Alamofire's name of ``ReachabilityManager``.
@available(*, unavailable, renamed: "ReachabilityManager")
public typealias NetworkReachabilityManager = ReachabilityManager

/// AFNetworking's name of ``ReachabilityCore/ReachabilityStatus``.
@available(*, unavailable, renamed: "ReachabilityStatus")
public typealias AFNetworkReachabilityStatus = ReachabilityStatus

extension ReachabilityManager {
    /// AFNetworking's name of ``status``.
    @available(*, unavailable, renamed: "status")
    public var networkReachabilityStatus: ReachabilityStatus { status }

    /// The name of ``status`` in Reachability.swift.
    @available(*, unavailable, renamed: "status")
    public var connection: ReachabilityStatus { status }

    /// AFNetworking's name of the nearest thing, ``isReachableViaWired``: a modem is wired, and its path's medium is cellular.
    @available(*, unavailable, renamed: "isReachableViaWired")
    public var isReachableViaWWAN: Bool { isReachableViaWired && path.medium == .cellular }

    /// AFNetworking's name of ``setStatusChangeBlock(_:)``.
    @available(*, unavailable, renamed: "setStatusChangeBlock(_:)")
    public func setReachabilityStatusChange(_ block: (@Sendable (ReachabilityStatus) -> Void)?) {
        setStatusChangeBlock(block)
    }

    /// The name of ``startMonitoring()`` in Reachability.swift.
    @available(*, unavailable, renamed: "startMonitoring()")
    public func startNotifier() { startMonitoring() }

    /// The name of ``stopMonitoring()`` in Reachability.swift.
    @available(*, unavailable, renamed: "stopMonitoring()")
    public func stopNotifier() { stopMonitoring() }

    /// Alamofire's name of ``stopMonitoring()``.
    @available(*, unavailable, renamed: "stopMonitoring()")
    public func stopListening() { stopMonitoring() }
}
