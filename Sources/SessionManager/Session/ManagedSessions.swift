// SPDX-License-Identifier: Apache-2.0

/// The sessions of a manager: the one that further tasks belong to, and those before it in which tasks still
/// run.
struct ManagedSessions {
    /// For further tasks; nil until it is asked for.
    var current: Session?
    /// For as long as tasks hold them.
    private var former: [Former] = []

    private struct Former {
        weak let session: Session?
    }

    /// All that may have tasks, the oldest first.
    var all: [Session] { former.compactMap(\.session) + (current.map { [$0] } ?? []) }

    /// Has the next task get a new session; what runs in this one goes on.
    mutating func renew() {
        former.removeAll { $0.session == nil }
        if let session = current.take() { former.append(Former(session: session)) }
    }
}
