// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import Glibc
import ServiceCore

/// Follows the state that a running service reports (`Monitor`), on the loop's thread.
///
/// Where no service runs, inotify(7) reports its socket, so that nothing wakes up meanwhile. Where no watch
/// is left (`fs.inotify.max_user_instances`), the socket is looked for every five seconds.
package final class StatusSubscription {
    private let path: String
    private let loop: Reactor
    private let onReply: ([UInt8]?) -> Void
    private var client: VarlinkClient?
    private var watch: WatchID?
    private var watcher: PathWatcher?
    private var timer: TimerID?
    /// How often it was tried since the socket's folder changed.
    private var tries = 0

    /// A socket has its name before its service listens, and a busy service has no room for a moment.
    private static let pause: Int64 = 200_000_000
    private static let mostTries = 5
    /// Between two looks for a socket that nothing reports.
    private static let longPause: Int64 = 5_000_000_000

    /// A subscription that ``start()`` begins.
    ///
    /// - Parameters:
    ///   - path: the service's socket, which need not exist yet.
    ///   - onReply: called with each reply, whose members are those of `GetStatus`, and with nil when the
    ///     service is gone.
    package init(path: String, on loop: Reactor, onReply: @escaping ([UInt8]?) -> Void) {
        self.path = path
        self.loop = loop
        self.onReply = onReply
    }

    deinit { close() }

    /// Begins, on the loop's thread.
    package func start() { connect() }

    private func close() {
        if let watch = watch.take() { loop.unwatch(watch) }
        if let timer = timer.take() { _ = loop.cancel(timer) }
        watcher?.end()
        client = nil
        watcher = nil
    }

    private func connect() {
        close()
        do throws(ServiceError) {
            // A full queue is not waited for: the loop has other work.
            let client = try VarlinkClient(path: path, until: Reactor.now)
            try client.send(VarlinkCall(ServiceInterface.name + ".Monitor", more: true), until: Reactor.now)
            watch = try? loop.watch(client.number, for: .readable, retrying: true) { [unowned self] _ in
                receive()
            }
            self.client = consume client
            tries = 0
        } catch {
            awaitSocket()
            if access(path, F_OK) == 0, tries < Self.mostTries {
                tryAgain(after: Self.pause)
            } else if watcher == nil {
                tryAgain(after: Self.longPause)
            }
        }
    }

    private func receive() {
        while let received = try? client?.received() {
            switch received {
            case .message(let reply): onReply(reply)
            case .incomplete: return
            case .closed:
                onReply(nil)
                return connect()
            }
        }
        // The answer cannot be parsed.
        close()
        onReply(nil)
    }

    private func tryAgain(after pause: Int64) {
        tries += 1
        timer = loop.schedule(at: Reactor.now &+ pause) { [unowned self] in
            timer = nil
            connect()
        }
    }

    /// Watches the folder in which the socket, or the next folder on the way to it, will appear.
    private func awaitSocket() {
        var folder = path.enclosingFolder
        while true {
            watcher = PathWatcher(folder: folder, reportsNew: true, on: loop) { [unowned self] in
                tries = 0
                if timer == nil { connect() }
            }
            guard watcher == nil, folder != "/", folder != "." else { return }
            folder = folder.enclosingFolder
        }
    }
}
