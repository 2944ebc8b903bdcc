// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Resolves names: the system's resolver, or a scripted one in a test.
package protocol NameResolving: Sendable {
    /// Resolves `name` off the loop and calls `completion` once, on any thread.
    ///
    /// - Parameter namespace: The network namespace to ask in; nil for the process's own.
    func resolve(
        _ name: String, in namespace: String?,
        _ completion: @escaping @Sendable (Result<[ReachabilityDestination], NameFailure>) -> Void)
}
