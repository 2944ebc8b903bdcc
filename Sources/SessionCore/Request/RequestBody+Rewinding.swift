// SPDX-License-Identifier: Apache-2.0

extension RequestBody {
    /// Whether it can be sent a second time: after a redirect that keeps it, a challenge, a lost connection.
    public var isRewindable: Bool {
        switch self {
        case .data, .file: true
        case .stream(let source): source.isRewindable
        }
    }
}
