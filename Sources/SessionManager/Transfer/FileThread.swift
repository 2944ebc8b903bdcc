// SPDX-License-Identifier: Apache-2.0

import EventLoop

/// The thread for what may block on a slow card or a network file system: fsync(2), rename(2), copying between file systems.
///
/// Neither the loop nor Swift's pool of threads, which has one thread for each core, may wait for these. One for all, in order; started by
/// the first who needs it.
enum FileThread {
    private static let reactor = try? Reactor(name: "reach-files")

    /// Does the work there and returns with its result; without a thread left, here.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        guard let reactor else { return work() }
        return await withCheckedContinuation { continuation in
            reactor.perform { continuation.resume(returning: work()) }
        }
    }
}
