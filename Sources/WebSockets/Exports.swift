// SPDX-License-Identifier: Apache-2.0

// Managers, whose functions make WebSockets, with requests, responses and errors.
@_exported public import SessionManager
