// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Storage

/// The open folder into which a file is fetched, below a permitted one.
///
/// The caller of the service has chosen the path, and the service writes with its own rights. So each folder
/// is opened by its name in the one above, never through a link, and everything after that is done by the
/// open folder (`/proc/self/fd`, proc_pid_fd(5)): a name that changes meanwhile leads nowhere else.
final class TargetFolder: Sendable {
    /// Why it cannot be used.
    enum Fault: Error {
        /// It is not there.
        case missing(String)
        /// Nothing may be written there.
        case refused(String, advice: String)
        /// The system fails, perhaps for a while.
        case system(String)
    }

    let path: DownloadPath
    private let number: Int32
    /// Who writes; root may give files away.
    private let user: UInt32
    private let owner: FileOwner?

    /// - Parameters:
    ///   - user: the user of the process that writes, perhaps another than this one.
    ///   - owner: who gets the file where root writes.
    init(_ path: DownloadPath, user: UInt32 = geteuid(), owner: FileOwner?) throws(Fault) {
        self.path = path
        self.user = user
        self.owner = user == 0 ? owner : nil
        // A link in the permitted folder's own path is the administrator's.
        var current = open(path.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard current >= 0 else { throw Self.fault(path.root, errno) }
        do throws(Fault) {
            var whole = path.root
            try Self.check(current, whole, user, self.owner)
            for name in path.folders {
                whole += (whole == "/" ? "" : "/") + name
                let next = openat(current, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                guard next >= 0 else { throw Self.fault(whole, errno) }
                close(current)
                current = next
                try Self.check(current, whole, user, self.owner)
            }
        } catch {
            close(current)
            throw error
        }
        number = current
    }

    deinit { close(number) }

    private static func fault(_ path: String, _ error: Int32) -> Fault {
        switch error {
        case ENOENT: .missing(path)
        case ENOTDIR, ELOOP:
            .refused(
                "\(path) is a link or no folder",
                advice: "links are not followed there: name the folder itself")
        default: .system("\(path): \(String(cString: strerror(error)))")
        }
    }

    /// Refuses a folder in which others could put names of their own in the place of what is written.
    private static func check(_ folder: Int32, _ path: String, _ user: UInt32, _ owner: FileOwner?)
        throws(Fault)
    {
        var status = stat()
        guard fstat(folder, &status) == 0 else { throw fault(path, errno) }
        guard status.st_mode & 0o002 == 0 else {
            throw .refused("\(path) may be written by any user", advice: "chmod o-w \(path)")
        }
        guard [0, user, owner?.user ?? user].contains(status.st_uid) else {
            throw .refused(
                "\(path) belongs to user \(status.st_uid)",
                advice: "choose a folder of root, or of the user of the service")
        }
    }

    /// A path of a name in it that holds while this object does.
    func path(of name: String) -> String { "/proc/self/fd/\(number)/\(name)" }

    // MARK: The file that is replaced

    /// Refuses a name that is no file of the one who gets the new file.
    func checkTarget() throws(Fault) {
        var status = stat()
        guard fstatat(number, path.name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            guard errno == ENOENT else { throw Self.fault(path.text, errno) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .refused(
                "\(path.text) is a link or no file", advice: "remove it, or choose another name")
        }
        guard status.st_uid == owner?.user ?? user else {
            throw .refused(
                "\(path.text) belongs to user \(status.st_uid)", advice: "remove it, or choose another name")
        }
    }

    /// Whether this process could make a file in it; true for another user's process, which this one does not
    /// ask.
    var isWritable: Bool { user != geteuid() || faccessat(number, ".", W_OK | X_OK, 0) == 0 }

    /// The size of the file that is there; nil without one.
    var targetSize: Int64? { size(path.name) }

    // MARK: What is being fetched

    /// The size of a regular file; nil for anything else.
    func size(_ name: String) -> Int64? {
        var status = stat()
        guard fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return Int64(status.st_size)
    }

    func contains(_ name: String) -> Bool {
        var status = stat()
        return fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Makes the file that receives the content, for this user alone; one that is there already stays if it
    /// is this user's own, and is replaced otherwise.
    func begin(_ part: String) throws(Fault) {
        for _ in 0..<3 {
            let new = openat(number, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if new >= 0 {
                close(new)
                return
            }
            guard errno == EEXIST else { throw system() }
            if isOwn(part) { return }
            remove(part)
        }
        throw system()
    }

    /// Whether a name is a regular file of this user, its only name, and the open one if there is one.
    private func isOwn(_ name: String, _ file: Int32? = nil) -> Bool {
        var (named, open) = (stat(), stat())
        guard fstatat(number, name, &named, AT_SYMLINK_NOFOLLOW) == 0, named.st_mode & S_IFMT == S_IFREG,
            named.st_uid == geteuid(), named.st_nlink == 1
        else { return false }
        guard let file else { return true }
        return fstat(file, &open) == 0 && open.st_dev == named.st_dev && open.st_ino == named.st_ino
    }

    /// Gives the whole file its owner, mode and name, each on the disk before the next.
    func install(_ part: String, mode: UInt32) throws(Fault) {
        try checkTarget()
        let file = try opened(part)
        // The open file and the name are one and the same, which has no other name: else a caller who may
        // write the folder could have another file given away.
        guard isOwn(part, file.number) else {
            throw .system("\(path.text): another process has changed what was fetched")
        }
        if let owner, geteuid() == 0, fchown(file.number, owner.user, owner.group) != 0 { throw system() }
        guard fchmod(file.number, mode & 0o777) == 0 else { throw system() }
        // A loss of power after the rename must not leave an empty file in the place of a good one.
        try sync(file.number)
        guard renameat(number, part, number, path.name) == 0 else { throw system() }
        removeRecords(of: part)
        try sync(number)
    }

    /// Gives a file that is in its place already its mode, and has it on the disk: the process that put it
    /// there may have been killed before that.
    func settle(_ part: String, mode: UInt32) throws(Fault) {
        try checkTarget()
        let file = try opened(path.name)
        guard fchmod(file.number, mode & 0o777) == 0 else { throw system() }
        try sync(file.number)
        removeRecords(of: part)
        try sync(number)
    }

    /// Opens a regular file for reading, not through a link, and without waiting for the writer of a pipe.
    func opened(_ name: String) throws(Fault) -> OwnedDescriptor {
        let number = openat(number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw system() }
        let file = OwnedDescriptor(adopting: number)
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .system("\(path.text): another process has changed what was fetched")
        }
        return file
    }

    private func sync(_ descriptor: Int32) throws(Fault) {
        // EINVAL: a file system without it (fsync(2)).
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw system() }
    }

    /// Removes a file that was being fetched, and its record.
    func remove(_ part: String) {
        unlinkat(number, part, 0)
        removeRecords(of: part)
    }

    /// Also after the download: a process that was killed may have left one that it was writing.
    private func removeRecords(of part: String) {
        for name in Self.records(of: part) { unlinkat(number, name, 0) }
    }

    /// The names of its record.
    static func record(of part: String) -> String { "\(part).resume" }
    private static func records(of part: String) -> [String] {
        [record(of: part), "\(record(of: part)).new"]
    }

    /// The space of its file system; nil if that cannot be determined.
    var room: DownloadRoom? {
        FileSystemSpace(descriptor: number).map {
            DownloadRoom(free: Int64(clamping: $0.free), size: Int64(clamping: $0.size))
        }
    }

    private func system() -> Fault {
        .system("\(path.text): \(String(cString: strerror(errno)))")
    }
}

extension TargetFolder.Fault {
    /// The error of a call that hands over a download.
    var error: OutboxError {
        switch self {
        case .missing(let folder):
            OutboxError(.badRequest, "the folder \(folder) is missing", advice: "make it first")
        case .refused(let reason, let advice): OutboxError(.badRequest, reason, advice: advice)
        case .system(let reason): OutboxError(.storage, reason)
        }
    }

    /// What follows for one that is being fetched: a missing folder may be on a card that is not mounted yet.
    var verdict: DeliveryVerdict {
        switch self {
        case .missing(let folder): .retry(OutboxFailure(.local, "the folder \(folder) is missing"))
        case .refused(let reason, let advice): .dead(OutboxFailure(.unsendable, "\(reason); \(advice)"))
        case .system(let reason): .retry(OutboxFailure(.local, reason))
        }
    }
}

extension FileOwner {
    /// This process's own.
    package static var current: FileOwner { FileOwner(user: geteuid(), group: getegid()) }
}
