// SPDX-License-Identifier: Apache-2.0

/// Names one watch of a descriptor, and none that others make of the same number later.
package struct WatchID: Sendable, Equatable {
    let descriptor: Int32
    let generation: UInt32
}
