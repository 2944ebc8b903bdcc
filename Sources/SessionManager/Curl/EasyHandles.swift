// SPDX-License-Identifier: Apache-2.0

import CCurl
import SessionCore

/// The easy handles of an engine, and what they share: cookies and fixed addresses; on the loop's thread.
final class EasyHandles {
    private let tls: TLSSettings
    private let features: OptionalFeatures
    private let turn: EngineTurn
    private let sockets: CurlSockets
    private let proxies: ProxyRules
    private let maximumIdle: Int
    private let share: UnsafeMutableRawPointer?
    /// Those that libcurl looks up nowhere.
    var addresses: FixedAddresses
    /// Whether the addresses that have answered are used where nothing binds a connection as well.
    var usesKnownAddresses = false
    private var hasMadeOne = false
    /// Handles without work; the newest is used first, since its memory is in the cache.
    private var idle: [EasyHandle] = []

    init(
        _ configuration: SessionConfiguration, tls: TLSSettings, features: OptionalFeatures,
        turn: EngineTurn, sockets: CurlSockets, proxies: ProxyRules
    ) {
        self.tls = tls
        self.features = features
        self.turn = turn
        self.sockets = sockets
        self.proxies = proxies
        maximumIdle = configuration.maximumIdleHandles
        share = ccurl_share_init()
        if let share { _ = ccurl_share_set(share, CURL_LOCK_DATA_COOKIE) }
        addresses = FixedAddresses(configuration.hostAddresses)
    }

    /// A handle for a transfer.
    func acquire() throws(SessionError) -> EasyHandle {
        if let easy = idle.popLast() { return easy }
        let easy = try EasyHandle(share: share, turn: turn, sockets: sockets, proxies: proxies)
        try tls.configure(easy.raw)
        try features.configure(easy.raw, isFirst: !hasMadeOne)
        hasMadeOne = true
        return easy
    }

    /// Keeps a handle for the next transfer, unless libcurl would use what it knows of another server for it.
    func release(_ easy: EasyHandle) {
        if !easy.keepsServerState, idle.count < maximumIdle { idle.append(easy) }
    }

    /// Sets the fixed addresses, which libcurl puts into the DNS cache of the pool.
    func setAddresses(_ easy: EasyHandle, in pool: ConnectionPool) {
        guard !addresses.isEmpty else { return }
        let number = pool.number &* 1_000_000 &+ addresses.version
        guard easy.addressedPool != number else { return }
        var uplink = usesKnownAddresses ? "" : nil
        if case .interface(let name) = pool.key.binding { uplink = name }
        let entries = addresses.entries(over: uplink)
        guard !entries.isEmpty else { return }
        easy.setAddresses(entries)
        easy.addressedPool = number
    }

    /// Frees the handles: before their multi handles (curl_easy_cleanup(3)).
    func removeIdle() { idle = [] }

    /// Frees what the handles shared: after the multi handles (curl_share_cleanup(3)).
    func close() {
        if let share { _ = ccurl_share_cleanup(share) }
    }
}
