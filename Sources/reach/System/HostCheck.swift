// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import Synchronization

/// One evaluation of the network by a command that has blocked its signals.
///
/// A name is looked up on a thread of its own: getaddrinfo(3) waits as long as resolv.conf(5) says, and
/// notices neither a signal nor the command's limit.
enum HostCheck {
    enum End: Sendable {
        case found(NetworkReport)
        case failed(ReachabilityError)
        case interrupted, timedOut
    }

    static func run(
        _ host: String?, _ configuration: ReachabilityConfiguration = .init(),
        until limit: MonotonicInstant? = nil
    ) -> End {
        guard let host, ReachabilityDestination(host) == nil else { return check(host, configuration) }
        do throws(ReactorError) {
            let waiter = try MainThreadWaiter()
            let result = Mutex<End?>(nil)
            try LoopThread.start(name: "reach-resolve") {
                let end = check(host, configuration)
                result.withLock { $0 = end }
                waiter.finish()
            }.detach()
            switch waiter.wait(watchesOutput: false, until: { limit }) {
            case .interrupted: return .interrupted
            case .timedOut: return .timedOut
            case .finished, .readerLeft: return result.withLock { $0 } ?? .timedOut
            }
        } catch {
            // Without a descriptor or a thread to wait with it is done here.
            return check(host, configuration)
        }
    }

    private static func check(_ host: String?, _ configuration: ReachabilityConfiguration) -> End {
        do throws(ReachabilityError) {
            return .found(try ReachabilityManager.check(host: host, configuration: configuration))
        } catch { return .failed(error) }
    }
}
