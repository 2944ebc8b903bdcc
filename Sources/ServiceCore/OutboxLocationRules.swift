// SPDX-License-Identifier: Apache-2.0

/// What a try to connect to a service's socket says about the service.
package enum SocketAnswer: Sendable, Equatable {
    /// A service listens.
    case listening
    /// There is no such socket.
    case absent
    /// The socket is there and no process listens on it: the service died, or is away for a moment.
    case refused
    /// A service listens, and its queue of connections is full (unix(7), EAGAIN).
    case busy
    /// The socket cannot be asked, for this reason.
    case denied(String)
}

/// Where commands find the outbox: with a service, or in the files of a state directory.
///
/// A request that was acknowledged must lie where the next service delivers from. So the directory is the one
/// that the last service has noted beside its socket (``StateNoteRules``), or else that of the configuration;
/// and a socket that was named is never replaced by files.
package enum OutboxLocationRules {
    package enum Place: Sendable, Equatable {
        /// The service is asked.
        case service
        /// The files of this state directory.
        case files(directory: String)
        /// Neither, for this reason.
        case nowhere(String)
    }

    /// - Parameters:
    ///   - socket: the path of the socket; empty where no service is to be asked.
    ///   - isNamed: whether the caller has named the socket, by `REACH_SOCKET`.
    ///   - answer: what was found there; nil where no service is to be asked.
    ///   - noted: the state directory of the last service at that socket; nil where none has noted one.
    ///   - configured: the state directory of the configuration, or the configuration's problem.
    package static func place(
        socket: String, isNamed: Bool, answer: SocketAnswer?, noted: String?,
        configured: Result<String, Problem>
    ) -> Place {
        let advice = "name the folder of its outbox by --state-directory"
        switch answer {
        case .listening, .busy: return .service
        case .denied(let reason): return .nowhere("\(socket): \(reason); ask as root, or \(advice)")
        case .absent where isNamed, .refused where isNamed:
            return .nowhere(
                "no service answers at \(socket), which \(ServicePaths.socketVariable) names; start it, or \(advice)"
            )
        case .refused:
            return noted.map { .files(directory: $0) }
                ?? .nowhere(
                    "the service at \(socket) does not answer, and has not noted where its outbox is; start it, or \(advice)"
                )
        case .absent, nil:
            if let noted { return .files(directory: noted) }
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

/// The note of a service about its state directory, beside its socket; it stays when the service ends.
package enum StateNoteRules {
    /// Where it lies; nil for a socket without a file (unix(7)).
    package static func path(socket: String) -> String? { socket.hasPrefix("/") ? socket + ".state" : nil }

    /// The content.
    package static func content(directory: String) -> [UInt8] { Array((directory + "\n").utf8) }

    /// The directory in it; nil where it is no note, or only a part of one.
    package static func directory(in bytes: [UInt8]) -> String? {
        guard bytes.first == UInt8(ascii: "/"), bytes.last == 10, bytes.count <= maximumSize,
            !bytes.dropLast().contains(where: { $0 < 0x20 })
        else { return nil }
        return String(validating: bytes.dropLast(), as: UTF8.self)
    }

    package static let maximumSize = 4096

    /// Whether a note is believed: root's and the reader's own are; that of another user only about a
    /// directory of its own, for else the commands of root would write where that user wants.
    ///
    /// - Parameters:
    ///   - owner: whose the note is (stat(2)).
    ///   - mode: its permission bits.
    ///   - directoryOwner: whose the directory is; nil where there is none.
    ///   - user: the reading user.
    package static func isBelieved(owner: UInt32, mode: UInt32, directoryOwner: UInt32?, user: UInt32) -> Bool
    {
        mode & 0o022 == 0 && (owner == 0 || owner == user || owner == directoryOwner)
    }
}

/// From whose state directory requests are sent: what lies in it decides which ones, and which files are read
/// for their secrets.
package enum StateDirectoryRules {
    /// Why a directory that is there is not used; nil where it is.
    ///
    /// A group with write access is trusted like the service's user.
    ///
    /// - Parameters:
    ///   - owner: Whose it is (stat(2)).
    ///   - mode: Its permission bits.
    ///   - user: the user that would send.
    package static func refusal(owner: UInt32, mode: UInt32, user: UInt32) -> String? {
        if owner != 0, owner != user {
            return
                "belongs to user \(owner), whose requests would be sent with the rights of user \(user); do it as user \(owner)"
        }
        return mode & 0o002 == 0 ? nil : "may be written by everybody (chmod o-w)"
    }
}
