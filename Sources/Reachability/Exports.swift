// SPDX-License-Identifier: Apache-2.0

// Exported, so that `import Reachability` alone gives statuses, paths and providers.
@_exported public import ReachabilityCore
