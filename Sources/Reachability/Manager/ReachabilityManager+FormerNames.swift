// SPDX-License-Identifier: Apache-2.0

public import ReachabilityCore

// The names of other libraries: the compiler says their names here, and offers to replace them.

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

    /// AFNetworking's question for a cellular path.
    @available(*, unavailable, message: "cellular is a medium of the path here: `path.medium == .cellular`")
    public var isReachableViaWWAN: Bool { path.medium == .cellular }

    /// Alamofire's question for a cellular path.
    @available(*, unavailable, message: "cellular is a medium of the path here: `path.medium == .cellular`")
    public var isReachableOnCellular: Bool { path.medium == .cellular }

    /// Alamofire's question for any other path.
    @available(*, unavailable, message: "ask `isReachable && path.medium != .cellular`")
    public var isReachableOnEthernetOrWiFi: Bool { isReachable && path.medium != .cellular }

    /// AFNetworking's name of ``localizedStatusString(_:)``.
    @available(*, unavailable, renamed: "localizedStatusString()")
    public func localizedNetworkReachabilityStatusString() -> String { localizedStatusString() }

    /// AFNetworking's singleton, written as a call.
    @available(
        *, unavailable, message: "`ReachabilityManager.shared` is a property here: leave out the parentheses"
    )
    public func callAsFunction() -> ReachabilityManager { self }

    /// AFNetworking's initializer.
    @available(*, unavailable, message: "make one and keep it: `ReachabilityManager()`")
    public static func manager() -> ReachabilityManager? { nil }

    /// Reachability.swift's block for a reachable network.
    @available(
        *, unavailable, message: "call setStatusChangeBlock(_:), and ask `status.isReachable` in the block"
    )
    public var whenReachable: (@Sendable (ReachabilityManager) -> Void)? {
        get { nil }
        set {}
    }

    /// Reachability.swift's block for an unreachable network.
    @available(
        *, unavailable,
        message: "call setStatusChangeBlock(_:), and ask `status == .unreachable` in the block"
    )
    public var whenUnreachable: (@Sendable (ReachabilityManager) -> Void)? {
        get { nil }
        set {}
    }

    /// Alamofire's start of monitoring.
    @available(*, unavailable, message: "call setStatusChangeBlock(_:) and startMonitoring()")
    public func startListening(onUpdatePerforming block: (@Sendable (ReachabilityStatus) -> Void)?) {}

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

extension ReachabilityStatus {
    /// AFNetworking's name of ``ReachabilityCore/ReachabilityStatus/unreachable``.
    @available(*, unavailable, renamed: "unreachable")
    public static var notReachable: ReachabilityStatus { .unreachable }

    /// AFNetworking's name of ``ReachabilityCore/ReachabilityStatus/wifi``.
    @available(*, unavailable, renamed: "wifi")
    public static var reachableViaWiFi: ReachabilityStatus { .wifi }

    /// AFNetworking's status for a cellular path.
    @available(*, unavailable, message: "cellular is a medium of the path here: `path.medium == .cellular`")
    public static var reachableViaWWAN: ReachabilityStatus { .wired }

    /// The status for a cellular path in Reachability.swift.
    @available(*, unavailable, message: "cellular is a medium of the path here: `path.medium == .cellular`")
    public static var cellular: ReachabilityStatus { .wired }

    /// The name of ``ReachabilityCore/ReachabilityStatus/unreachable`` in Reachability.swift.
    @available(*, unavailable, renamed: "unreachable")
    public static var unavailable: ReachabilityStatus { .unreachable }
}
