// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ServiceCore

// The socket's file may be removed while the service runs, mostly with its directory; then it is made again.
extension VarlinkServer {
    /// How long the service waits for a removed directory to be made again before it makes the directory
    /// itself.
    private static let firstPause: Int64 = 1_000_000_000
    private static let longestPause: Int64 = 60_000_000_000

    /// Starts to watch the socket's file.
    func watchPlace() {
        place?.end()
        place = nil
        guard let context, let path = listener?.path else { return }
        // Without a watch the file is checked with each change of the status.
        place = PathWatcher(folder: path.enclosingFolder, file: path, on: context.reactor) { [weak self] in
            self?.lookAfterPlace()
        }
    }

    /// Checks that the file exists; else makes it again after a pause.
    func lookAfterPlace() {
        guard let context, let listener, let path = listener.path, restoring == nil, !listener.isInPlace
        else { return }
        context.log(.warning, "varlink: the socket \(path) is gone; it is made again")
        place?.end()
        place = nil
        restore(after: Self.firstPause, isFirst: true)
    }

    func endPlace() {
        place?.end()
        place = nil
        if let restoring { context?.reactor.cancel(restoring) }
        restoring = nil
    }

    private func restore(after pause: Int64, isFirst: Bool) {
        restoring = context?.reactor.schedule(at: Reactor.now + pause) { [weak self] in
            guard let self, let context, let listener else { return }
            restoring = nil
            do throws(ServiceError) {
                let remade = try listener.remade()
                replaceListener(by: remade)
                watchPlace()
                context.log(.notice, "varlink: the socket \(remade.path ?? "") is there again")
            } catch {
                if isFirst { context.log(.error, "varlink: \(error)") }
                restore(after: min(pause * 2, Self.longestPause), isFirst: false)
            }
        }
    }
}
