// SPDX-License-Identifier: Apache-2.0

// `import Reachability` is all a user writes: statuses, paths and providers come along.
@_exported public import ReachabilityCore
