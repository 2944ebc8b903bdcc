// SPDX-License-Identifier: Apache-2.0

// Code that sends requests needs them all, and one import is to be enough.
@_exported public import HTTPTypes
@_exported public import Reachability
@_exported public import SessionCore
