// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import ServiceCore

/// The programs in the hooks directory that may be run.
///
/// The directory stays open and programs are started by their name in it, so that a checked program is the
/// one that runs: only root and the service's own user can change what passes.
final class HookDirectory: Sendable {
    private let descriptor: OwnedDescriptor?
    /// The programs that may be run.
    let names: [String]
    /// The reasons why programs are not run.
    let refusals: [String]

    // More programs than this are a mistake.
    private static let limit = 256

    /// Reads the directory; a missing one has no hooks.
    init(_ path: String, user: UInt32 = geteuid()) {
        let number = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else {
            descriptor = nil
            names = []
            let code = errno
            let why = code == ENOTDIR || code == ELOOP ? "is no directory" : String(cString: strerror(code))
            refusals = code == ENOENT ? [] : ["\(path): \(why)"]
            return
        }
        let directory = OwnedDescriptor(adopting: number)
        var status = stat()
        fstat(number, &status)
        if let refusal = HookRules.refusal(directory: HookFile(status), user: user) {
            descriptor = nil
            names = []
            refusals = ["\(path) \(refusal); nothing in it is run"]
            return
        }
        var (good, bad): ([String], [String]) = ([], [])
        for name in Self.names(in: number) where HookRules.isHook(name) {
            guard fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            if let refusal = HookRules.refusal(HookFile(status), user: user) {
                bad.append("\(path)/\(name) \(refusal); it is not run")
            } else if good.count < Self.limit {
                good.append(name)
            } else {
                bad.append("\(path)/\(name) is not run: there are more than \(Self.limit) programs")
            }
        }
        descriptor = consume directory
        names = good
        refusals = bad
    }

    /// The open directory; nil if it is missing or refused.
    var number: Int32? {
        switch descriptor {
        case .some(let owner): owner.number
        case .none: nil
        }
    }

    private static func names(in directory: Int32) -> [String] {
        let copy = fcntl(directory, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return [] }
        guard let stream = fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            names.append(name)
        }
        return names
    }
}

extension HookFile {
    fileprivate init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        self.init(kind: kind, owner: status.st_uid, mode: status.st_mode & 0o7777)
    }
}
