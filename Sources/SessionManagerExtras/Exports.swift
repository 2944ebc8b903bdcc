// SPDX-License-Identifier: Apache-2.0

// Tasks, managers and serializers: what these types are made for.
@_exported public import SessionManager
