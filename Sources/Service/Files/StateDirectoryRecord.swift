// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
package import ServiceCore

/// The file beside a service's socket that names its state directory, for commands without the service.
package enum StateDirectoryRecord {
    /// Writes the record, which a socket without a file does not have; returns the failure, or nil.
    package static func leave(_ directory: String, socket: String) -> String? {
        guard let path = StateDirectoryRecordRules.path(socket: socket) else { return nil }
        return AtomicFile(path).write(StateDirectoryRecordRules.content(directory: directory))
    }

    /// The directory recorded by the last service at this socket; nil without a trusted record.
    package static func directory(socket: String) -> String? {
        guard let path = StateDirectoryRecordRules.path(socket: socket) else { return nil }
        let number = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let descriptor = OwnedDescriptor(adopting: number)
        var (recordStatus, directoryStatus) = (stat(), stat())
        var bytes = [UInt8](repeating: 0, count: StateDirectoryRecordRules.maximumSize + 1)
        guard fstat(descriptor.number, &recordStatus) == 0, recordStatus.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        let count = read(descriptor.number, &bytes, bytes.count)
        guard count > 0, let directory = StateDirectoryRecordRules.directory(in: Array(bytes[..<count]))
        else { return nil }
        let isThere = stat(directory, &directoryStatus) == 0
        let isBelieved = StateDirectoryRecordRules.isBelieved(
            owner: recordStatus.st_uid, mode: recordStatus.st_mode,
            directoryOwner: isThere ? directoryStatus.st_uid : nil,
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
        // An abstract name disappears with its socket.
        case ECONNREFUSED: self = path.hasPrefix("@") ? .absent : .refused
        case EAGAIN: self = .busy
        default: self = .denied(String(cString: strerror(errno)))
        }
    }
}
