// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore
import Synchronization

/// The hosts that have asked to be spoken to by https alone (HTTP Strict Transport Security, RFC 6797).
///
///     manager.hsts = try HSTSStore(file: "/var/lib/device/hsts.txt", preloaded: [".example.com"])
///
/// A request for `http://` such a host, or a redirect there, goes as https, so that no device on the way
/// can answer it. Port 80 becomes 443, and other ports stay. The task says so by ``TaskStep/secured(_:)``,
/// and ``SessionTask/currentRequest`` has the URL. Hosts are learned from the header field
/// `Strict-Transport-Security` of responses over TLS, and from a list of yours; never from plain http, never
/// addresses, and not where ``SecurityPolicy`` accepts any certificate or name, or a delegate is asked about
/// servers.
///
/// A manager has none unless given one, as with curl: a device's servers are mostly named with https, and
/// what was learned changes where requests go until it expires. Several managers may have the same one.
///
/// A server whose certificate fails is refused by the manager's policy, known or not (RFC 6797 §8.4). A
/// policy that permits such servers is the program's own decision and holds for known hosts as well.
///
/// The end of what was learned is a time of day. A clock that is set forward by years forgets; one that
/// stands in 1970 when a host is learned makes it expire when it is set.
public final class HSTSStore: Sendable {
    private struct State {
        var hosts: StrictTransportHosts
        /// Whether the file lacks something.
        var isDirty = false
        /// Whether a write is on its way.
        var isWriting = false
    }

    /// The file; nil where all is in memory.
    public let file: String?
    /// Seconds since 1970.
    private let clock: @Sendable () -> Int64
    private let state: Mutex<State>

    /// A store in memory, which starts empty.
    public init() {
        file = nil
        clock = Self.wallClock
        state = Mutex(State(hosts: StrictTransportHosts()))
    }

    /// A store that outlasts the program.
    ///
    /// - Parameters:
    ///   - file: in the format of `curl --hsts` (CURLOPT_HSTS(3)); it need not exist, and its folder must.
    ///     Lines that cannot be read are skipped. The file is written when a host is new, gone or has moved
    ///     its end by a day, on a thread for files; of several programs with one file the last writer wins.
    ///     Nil keeps all in memory.
    ///   - preloaded: hosts that are known for ever without having been spoken to; a dot before a name
    ///     includes all below it, as in the file.
    /// - Throws: where the file is there and cannot be read, and ``SessionError/Code/badURL`` for a preloaded
    ///   text that is no name.
    public convenience init(file: String?, preloaded: [String] = []) throws(SessionError) {
        try self.init(file: file, preloaded: preloaded, clock: Self.wallClock)
    }

    /// A store with a clock of its own.
    package init(
        file: String?, preloaded: [String] = [], clock: @escaping @Sendable () -> Int64
    ) throws(SessionError) {
        var hosts = StrictTransportHosts()
        for name in preloaded {
            let isWide = name.hasPrefix(".")
            let ascii = try InternationalHost.ascii(isWide ? String(name.dropFirst()) : name)
            guard hosts.preload(isWide ? ".\(ascii)" : ascii) else {
                throw SessionError(
                    .badURL, "\(TextQuote(name)) is no name of a host",
                    advice: "write example.com, or .example.com for the hosts below it too")
            }
        }
        if let file, let text = try HSTSFile(path: file).read() {
            hosts.add(fileContent: text, at: clock())
        }
        self.file = file
        self.clock = clock
        state = Mutex(State(hosts: hosts))
    }

    private static let wallClock: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }

    /// The known hosts in order, a dot before those whose hosts below are known too.
    public var hosts: [String] { state.withLock { $0.hosts.all(at: clock()) } }

    /// The URL by which a request for `url` goes: with https where the host is known, else the same.
    public func secured(_ url: URL) -> URL { replacement(for: url) ?? url }

    private func replacement(for url: URL) -> URL? {
        state.withLock { $0.hosts.secured(url, at: clock()) }
    }

    /// Forgets a host that was learned; a preloaded one stays.
    public func forget(_ host: String) { change { $0.remove(host) } }

    /// Forgets all hosts that were learned; preloaded ones stay.
    public func forgetAll() {
        change {
            $0.removeAll()
            return true
        }
    }

    /// Returns when the file has all that is known.
    ///
    /// - Throws: ``SessionError/Code/cannotWriteToFile`` or ``SessionError/Code/cannotCreateFile``: what was
    ///   learned stays in memory, and is written with the next change.
    public func flush() async throws(SessionError) {
        try await FileThread.run { [self] in Result { () throws(SessionError) in try write() } }.get()
    }

    /// Records what the server of a response says of itself; only the first field counts (§8.1).
    private func received(_ response: SessionResponse) {
        guard let value = response.values(forHeader: "strict-transport-security").first,
            let field = StrictTransportField(value), let host = Origin(response.url)?.host
        else { return }
        change { $0.record(field, of: host, at: clock()) }
    }

    /// Changes what is known; where that is to be stored, it is written soon.
    private func change(_ body: (inout StrictTransportHosts) -> Bool) {
        let writes = state.withLock { state in
            guard body(&state.hosts), file != nil else { return false }
            state.isDirty = true
            defer { state.isWriting = true }
            return !state.isWriting
        }
        // A failure is reported by `flush()`, and the next change tries again.
        if writes { Task { await FileThread.run { [self] in try? write() } } }
    }

    /// Writes what the file lacks; on the thread for files.
    private func write() throws(SessionError) {
        guard let file else { return }
        let text: String? = state.withLock { state in
            state.isWriting = false
            guard state.isDirty else { return nil }
            state.isDirty = false
            state.hosts.markStored()
            return state.hosts.fileContent(at: clock())
        }
        guard let text else { return }
        do throws(SessionError) {
            try HSTSFile(path: file).replace(text)
        } catch {
            state.withLock { $0.isDirty = true }
            throw error
        }
    }

    /// What the tasks of a manager use.
    fileprivate var strictTransport: StrictTransport {
        StrictTransport(
            self, secured: { [self] in replacement(for: $0) }, received: { [self] in received($0) })
    }
}

extension URLSessionManager {
    /// The hosts that the tasks that are made from now on ask by https alone; nil, the default, knows none.
    public var hsts: HSTSStore? {
        get { strictTransport?.store }
        set { strictTransport = newValue?.strictTransport }
    }
}

extension HTTPSessionManager {
    /// The hosts that the tasks that are made from now on ask by https alone; nil, the default, knows none.
    public var hsts: HSTSStore? {
        get { urlSessionManager.hsts }
        set { urlSessionManager.hsts = newValue }
    }
}
