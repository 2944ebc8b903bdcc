// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
package import ServiceCore

/// The file beside a service's socket that says where its state directory is, for commands that find the
/// service away.
package enum StateDirectoryRecord {
    /// Leaves it; a socket without a file has none.
    ///
    /// - Returns: What failed; nil where nothing did.
    package static func leave(_ directory: String, socket: String) -> String? {
        guard let path = StateNoteRules.path(socket: socket) else { return nil }
        return AtomicFile(path).write(StateNoteRules.content(directory: directory))
    }

    /// The directory that the last service at this socket has noted; nil where there is no note, or none to
    /// be believed.
    package static func directory(socket: String) -> String? {
        guard let path = StateNoteRules.path(socket: socket) else { return nil }
        let number = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let descriptor = OwnedDescriptor(adopting: number)
        var (note, place) = (stat(), stat())
        var bytes = [UInt8](repeating: 0, count: StateNoteRules.maximumSize + 1)
        guard fstat(descriptor.number, &note) == 0, note.st_mode & S_IFMT == S_IFREG else { return nil }
        let count = read(descriptor.number, &bytes, bytes.count)
        guard count > 0, let directory = StateNoteRules.directory(in: Array(bytes[..<count])) else {
            return nil
        }
        let isThere = stat(directory, &place) == 0
        let isBelieved = StateNoteRules.isBelieved(
            owner: note.st_uid, mode: note.st_mode, directoryOwner: isThere ? place.st_uid : nil,
            user: geteuid())
        return isBelieved ? directory : nil
    }
}

extension SocketAnswer {
    /// Asks the socket at `path` by connecting to it once.
    package init(asking path: String) {
        let address: UnixAddress
        do throws(ServiceError) { address = try UnixAddress(path) } catch {
            self = .denied(error.description)
            return
        }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, type, 0)
        guard number >= 0 else {
            self = .denied(String(cString: strerror(errno)))
            return
        }
        let descriptor = OwnedDescriptor(adopting: number)
        guard address.with({ connect(descriptor.number, $0, $1) }) != 0 else {
            self = .listening
            return
        }
        switch errno {
        case ENOENT, ENOTDIR: self = .absent
        // A name without a file goes with its socket.
        case ECONNREFUSED: self = path.hasPrefix("@") ? .absent : .refused
        case EAGAIN: self = .busy
        default: self = .denied(String(cString: strerror(errno)))
        }
    }
}
