// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
package import ServiceCore
import Storage

/// A listening Unix socket: made by this program, or passed by systemd.
package final class UnixListener {
    let descriptor: OwnedDescriptor
    /// The file to remove at the end; nil if systemd owns the socket.
    let path: String?
    private let lock: OwnedDescriptor?
    /// The file's device and inode.
    private let identity: FileIdentity?
    /// The most connections that wait to be accepted: the kernel's own limit since Linux 5.4.
    private static let backlog: Int32 = 4_096

    /// Takes over a listening socket (socket activation).
    package init(adopting number: Int32) throws(ServiceError) {
        guard Self.option(SO_ACCEPTCONN, number) == 1, Self.option(SO_DOMAIN, number) == AF_UNIX else {
            throw ServiceError(
                .usage,
                "descriptor \(number), which was handed over as LISTEN_FDS says, is no listening Unix socket")
        }
        descriptor = OwnedDescriptor(adopting: number)
        // systemd may have set a shorter queue (listen(2) may be called again).
        _ = listen(number, Self.backlog)
        path = nil
        lock = nil
        identity = nil
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    }

    /// Listens at `path`; makes its directory if it is missing.
    ///
    /// An existing socket is replaced only if no process listens on it. A lock beside it, which the kernel
    /// releases when its holder ends, excludes two services that start at once.
    package convenience init(path: String) throws(ServiceError) {
        let isFile = !path.hasPrefix("@")
        if isFile { try Self.makeDirectory(of: path) }
        try self.init(path: path, lock: isFile ? try Self.lock(path) : nil)
    }

    private init(path: String, lock: consuming OwnedDescriptor?) throws(ServiceError) {
        let isFile = !path.hasPrefix("@")
        if isFile { try Self.removeStale(path) }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, type, 0)
        guard number >= 0 else { throw Self.error("socket(AF_UNIX)") }
        let descriptor = OwnedDescriptor(adopting: number)
        let bound = try UnixAddress(path).with { bind(number, $0, $1) }
        guard bound == 0 else {
            if errno == EADDRINUSE { throw Self.alreadyRunning(path) }
            throw Self.error("listening at \(path)")
        }
        // All users may ask for the status; further permissions depend on the peer's credentials.
        guard !isFile || chmod(path, 0o666) == 0 else { throw Self.error("chmod \(path)") }
        guard listen(number, Self.backlog) == 0 else { throw Self.error("listening at \(path)") }
        self.descriptor = descriptor
        self.lock = lock
        self.path = isFile ? path : nil
        identity = isFile ? FileIdentity(path) : nil
    }

    /// Whether the path leads to this socket.
    var ownsPath: Bool { path.map { FileIdentity($0) == identity } ?? true }

    /// Listens at the same path again after the file was removed; this socket works until it is released.
    func remade() throws(ServiceError) -> UnixListener {
        guard let path else { throw ServiceError("a socket that was handed over cannot be made again") }
        try Self.makeDirectory(of: path)
        if let held = try heldLock(path) { return try UnixListener(path: path, lock: held) }
        return try UnixListener(path: path, lock: try Self.lock(path))
    }

    /// The held lock, if its file is in place; nil if it was removed with the directory.
    private func heldLock(_ path: String) throws(ServiceError) -> OwnedDescriptor? {
        let number: Int32
        switch lock {
        case .some(let lock): number = lock.number
        case nil: return nil
        }
        guard FileIdentity(descriptor: number).isSame(as: path + ".lock") else { return nil }
        // Both descriptors share the lock until the last is closed (flock(2)).
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw Self.error("fcntl(F_DUPFD_CLOEXEC)") }
        return OwnedDescriptor(adopting: copy)
    }

    /// Removes the file; connections remain.
    func close() {
        guard let path, ownsPath else { return }
        unlink(path)
        unlink(path + ".lock")
    }

    private static func option(_ name: Int32, _ descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    private static func makeDirectory(of path: String) throws(ServiceError) {
        guard let end = path.lastIndex(of: "/"), end > path.startIndex else { return }
        let directory = String(path[..<end])
        if mkdir(directory, 0o755) == 0 {
            // Regardless of the umask, since other users have to reach the socket.
            chmod(directory, 0o755)
        } else if errno != EEXIST {
            throw error("making \(directory)", "; give another place by --socket")
        }
    }

    private static func lock(_ path: String) throws(ServiceError) -> OwnedDescriptor {
        let name = path + ".lock"
        while true {
            let number = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard number >= 0 else { throw error(name, "; give another place by --socket") }
            let lock = OwnedDescriptor(adopting: number)
            guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
                if errno == EWOULDBLOCK { throw alreadyRunning(path) }
                throw error("locking \(name)")
            }
            // The former holder removed the file when it ended; then no other process sees this lock.
            if FileIdentity(descriptor: number).isSame(as: name) { return lock }
        }
    }

    private static func removeStale(_ path: String) throws(ServiceError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw ServiceError("\(path) is there and no socket; remove it, or give another place by --socket")
        }
        // A process with a full queue would block it.
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let probe = socket(AF_UNIX, Int32(kind), 0)
        guard probe >= 0 else { throw error("socket(AF_UNIX)") }
        defer { _ = Glibc.close(probe) }
        let answer = try UnixAddress(path).with { connect(probe, $0, $1) }
        // ECONNREFUSED: no process has the socket open. Any other result counts as in use.
        guard answer != 0, errno == ECONNREFUSED else { throw alreadyRunning(path) }
        unlink(path)
    }

    private static func alreadyRunning(_ path: String) -> ServiceError {
        ServiceError(
            .alreadyRunning,
            "another service answers at \(path); stop it first, or give another place by --socket")
    }

    /// A system failure, from the current `errno`.
    private static func error(_ what: String, _ advice: String = "") -> ServiceError {
        let failure = ReactorError(what, errno: errno)
        return ServiceError("\(failure)\(failure.errno == EMFILE ? "" : advice)")
    }
}

/// The address of a Unix socket; a name that begins with "@" is an abstract one, without a file (unix(7)).
struct UnixAddress {
    private var address = sockaddr_un()
    private let length: socklen_t

    init(_ name: String) throws(ServiceError) {
        let isAbstract = name.hasPrefix("@")
        let bytes = Array(name.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        // A path needs space for its NUL; an abstract name has the length of the address.
        guard !bytes.isEmpty, bytes.count + (isAbstract ? 0 : 1) <= room else {
            throw ServiceError(
                .usage,
                "\(name): the path of a socket has 1 to \(room - 1) bytes, and this one \(bytes.count)")
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: bytes)
            if isAbstract { path[0] = 0 }
        }
        let header = MemoryLayout<sockaddr_un>.size - room
        length = socklen_t(header + bytes.count + (isAbstract ? 0 : 1))
    }

    func with(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
