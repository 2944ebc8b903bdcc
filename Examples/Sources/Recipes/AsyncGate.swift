// SPDX-License-Identifier: Apache-2.0

import Reachability

/// Uploads in order, each when there is a path.
///
/// The manager has to be started.
func upload(
    _ files: [String], over network: ReachabilityManager, send: (String) async throws -> Void
) async {
    for file in files {
        for await update in network.pathUpdates where update.path.isOnline || update.status == .unknown {
            break
        }
        do {
            try await send(file)
        } catch {
            network.reevaluate()  // the path looked good: have the kernel asked again now
        }
    }
}
