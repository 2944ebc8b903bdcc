// SPDX-License-Identifier: Apache-2.0

// Requests and responses, the statuses that managers follow, and methods and header fields: code that sends
// requests needs them all, and one import is to be enough.
@_exported public import HTTPTypes
@_exported public import Reachability
@_exported public import SessionCore
