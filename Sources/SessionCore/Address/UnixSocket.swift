// SPDX-License-Identifier: Apache-2.0

/// A socket of this machine that a server listens on (unix(7)): a file, or a name in the kernel's own list.
package struct UnixSocket: Sendable, Hashable {
    /// The path; of an abstract socket its name, without `@`.
    package let path: String
    /// Whether it has a name without a file, which is its network namespace's own.
    package let isAbstract: Bool

    /// What `sun_path` holds beside the NUL of its end, or of its beginning (unix(7)).
    private static let limit = 107

    /// - Parameter text: a whole path, or `@` and the name of an abstract socket.
    /// - Throws: ``SessionError/Code/badURL`` where no socket can have the name.
    package init(_ text: String) throws(SessionError) {
        isAbstract = text.utf8.first == UInt8(ascii: "@")
        path = isAbstract ? String(text.dropFirst()) : text
        guard isAbstract ? !path.isEmpty : path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw SessionError(
                .badURL, "\(TextQuote(text)) names no socket of this machine",
                advice: "write its whole path, as /run/snapd.socket, or @ and the name of an abstract one; "
                    + "in a URL percent-encoded, as http+unix://%2Frun%2Fsnapd.socket/v2/apps")
        }
        guard path.utf8.count <= Self.limit else {
            throw SessionError(
                .badURL, "the path of a socket has at most \(Self.limit) bytes, this one \(path.utf8.count)",
                advice: "make a symbolic link with a shorter path to its folder")
        }
    }

    /// As ``init(_:)`` takes it.
    package var name: String { isAbstract ? "@\(path)" : path }
}
