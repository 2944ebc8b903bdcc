// SPDX-License-Identifier: Apache-2.0

import Glibc

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

extension UnixSocket {
    /// What is found where a socket should be.
    package struct File: Sendable, Equatable {
        package var isSocket: Bool
        /// The lower nine bits of its mode (inode(7)).
        package var permissions: UInt32
        package var owner: String
        package var group: String

        package init(isSocket: Bool, permissions: UInt32, owner: String, group: String) {
            self.isSocket = isSocket
            self.permissions = permissions
            self.owner = owner
            self.group = group
        }
    }

    /// Why it cannot be connected to, and what to do; nil where another error says more.
    ///
    /// - Parameters:
    ///   - errno: of connect(2), see unix(7).
    ///   - file: nil where it cannot be looked at.
    package func failure(_ errno: Int32, _ file: File?) -> SessionError? {
        if let file, !file.isSocket { return unreachable("\(path) is no socket", "check the path") }
        switch errno {
        case ENOENT, ENOTDIR:
            return unreachable("there is no socket \(path)", "start its service, or check the path")
        case ECONNREFUSED:
            return isAbstract
                ? unreachable(
                    "no process listens on the abstract socket \(name)",
                    "start its service; abstract sockets are seen in their own network namespace alone")
                : unreachable(
                    "no process listens on \(path)", "start its service; the file is left from an earlier run"
                )
        case EACCES, EPERM: return refused(file)
        case EPROTOTYPE:
            return unreachable(
                "\(name) is no socket of connections", "HTTP needs one of the type SOCK_STREAM (unix(7))")
        case EAGAIN, ENOTCONN:
            return unreachable(
                "\(name) takes no more connections at the moment",
                "try again; its service may hang, or is asked by too many")
        default: return nil
        }
    }

    private func refused(_ file: File?) -> SessionError {
        guard let file else {
            return denied("a folder above \(path) may not be entered", "look at them with namei -l \(path)")
        }
        let digits = String(file.permissions, radix: 8)
        let mode = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let sentence = "this process may not connect to \(path) (\(file.owner):\(file.group) \(mode))"
        // Connecting takes the permission to write (unix(7)).
        guard file.permissions & 0o020 != 0 else { return denied(sentence, "run as \(file.owner)") }
        let name = file.group
        return denied(
            sentence,
            "run with the group \(name): usermod -aG \(name) USER, or SupplementaryGroups=\(name) of the unit "
                + "(systemd.exec(5))")
    }

    private func unreachable(_ message: String, _ advice: String) -> SessionError {
        SessionError(.cannotConnectToHost, message, advice: advice)
    }

    private func denied(_ message: String, _ advice: String) -> SessionError {
        SessionError(.noPermissionsToReadFile, message, advice: advice)
    }
}
