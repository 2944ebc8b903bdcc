// SPDX-License-Identifier: Apache-2.0

/// The result of connecting to a service's socket.
package enum SocketAnswer: Sendable, Equatable {
    /// A service listens.
    case listening
    /// There is no such socket.
    case absent
    /// The socket exists and no process listens on it: the service died, or restarts.
    case refused
    /// A service listens, and its queue of connections is full (unix(7), EAGAIN).
    case busy
    /// The connection failed for this reason.
    case denied(String)
}

/// Decides where commands find the outbox: in a service, or in the files of a state directory.
///
/// A stored request must lie where the next service delivers from. So the directory is the one that the last
/// service has recorded beside its socket (``StateDirectoryRecordRules``), or else that of the configuration;
/// and a socket that was named is never replaced by files.
package enum OutboxLocationRules {
    package enum Location: Sendable, Equatable {
        /// The service's outbox.
        case service
        /// The files of this state directory.
        case files(directory: String)
        /// No outbox can be used, for this reason.
        case nowhere(String)
    }

    /// - Parameters:
    ///   - socket: the path of the socket; empty if no service is to be asked.
    ///   - isNamed: whether the caller has named the socket, by `REACH_SOCKET`.
    ///   - answer: the result of connecting; nil if no service is to be asked.
    ///   - recorded: the state directory recorded by the last service at that socket; nil without a record.
    ///   - configured: the state directory of the configuration, or the configuration's problem.
    package static func location(
        socket: String, isNamed: Bool, answer: SocketAnswer?, recorded: String?,
        configured: Result<String, Problem>
    ) -> Location {
        let advice = "name the folder of its outbox by --state-directory"
        switch answer {
        case .listening, .busy: return .service
        case .denied(let reason): return .nowhere("\(socket): \(reason); ask as root, or \(advice)")
        case .absent where isNamed, .refused where isNamed:
            return .nowhere(
                "no service answers at \(socket), which \(ServicePaths.socketVariable) names; start it, or \(advice)"
            )
        case .refused:
            return recorded.map { .files(directory: $0) }
                ?? .nowhere(
                    "the service at \(socket) does not answer, and has not recorded where its outbox is; start it, or \(advice)"
                )
        case .absent, nil:
            if let recorded { return .files(directory: recorded) }
            switch configured {
            case .success(let directory): return .files(directory: directory)
            case .failure(let problem): return .nowhere("\(problem.reason); \(advice)")
            }
        }
    }

    /// Why a configuration gives no directory.
    package struct Problem: Error, Sendable, Equatable {
        package let reason: String
        package init(reason: String) { self.reason = reason }
    }
}

/// A service's record of its state directory, beside its socket; it remains when the service ends.
package enum StateDirectoryRecordRules {
    /// The record's path; nil for a socket without a file (unix(7)).
    package static func path(socket: String) -> String? { socket.hasPrefix("/") ? socket + ".state" : nil }

    /// The content.
    package static func content(directory: String) -> [UInt8] { Array((directory + "\n").utf8) }

    /// The directory in a record; nil if it is invalid or incomplete.
    package static func directory(in bytes: [UInt8]) -> String? {
        guard bytes.first == UInt8(ascii: "/"), bytes.last == 10, bytes.count <= maximumSize,
            !bytes.dropLast().contains(where: { $0 < 0x20 })
        else { return nil }
        return String(validating: bytes.dropLast(), as: UTF8.self)
    }

    package static let maximumSize = 4096

    /// Whether a record is trusted: one of root or the reader itself is; another user's only about a
    /// directory of the same user, since else root's commands would write where that user wants.
    ///
    /// - Parameter directoryOwner: the directory's owner; nil if it does not exist.
    package static func isBelieved(owner: UInt32, mode: UInt32, directoryOwner: UInt32?, user: UInt32) -> Bool
    {
        mode & 0o022 == 0 && (owner == 0 || owner == user || owner == directoryOwner)
    }
}

/// Decides from which state directories requests are sent, since its files decide about requests and secrets.
package enum StateDirectoryRules {
    /// Why an existing directory is not used; nil if it may be.
    ///
    /// A group with write access is trusted like the service's user; `user` is the one that would send.
    package static func refusal(owner: UInt32, mode: UInt32, user: UInt32) -> String? {
        if owner != 0, owner != user {
            return
                "belongs to user \(owner), whose requests would be sent with the rights of user \(user); do it as user \(owner)"
        }
        return mode & 0o002 == 0 ? nil : "may be written by every user (chmod o-w)"
    }
}
