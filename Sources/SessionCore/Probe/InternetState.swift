// SPDX-License-Identifier: Apache-2.0

/// What was found behind the path, by asking a server of one's own.
public enum InternetState: String, Sendable, Hashable, Codable, CaseIterable {
    /// Not asked yet, or not since the path changed.
    case unknown
    /// There is no path: nothing was asked.
    case none
    /// There is a path, but the server does not answer: no name, no connection, no reply in time, or a
    /// failure of its own.
    case limited
    /// Another server answers: a page to sign in, as networks of hotels and trains have it.
    case portal
    /// The server answers as it should.
    case full
}

extension InternetState: CustomStringConvertible {
    /// The lower-case word used in JSON and on the command line.
    public var description: String { rawValue }
}
