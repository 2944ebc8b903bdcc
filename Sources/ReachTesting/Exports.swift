// SPDX-License-Identifier: Apache-2.0

// A test of code that depends on Reach needs them all, and one import is to be enough.
@_exported public import Outbox
@_exported public import SessionManager
