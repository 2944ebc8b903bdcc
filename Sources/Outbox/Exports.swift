// SPDX-License-Identifier: Apache-2.0

// Entries, limits and events, and the managers that deliver: one import is to be enough.
@_exported public import SessionManager
