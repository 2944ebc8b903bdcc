// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import FoundationEssentials
import Glibc
import SessionCore

/// The file of an ``HSTSStore``: the old content or the new one, never a part.
struct HSTSFile {
    let path: String

    /// A file of a thousand hosts has less than a tenth of it.
    private static let mostBytes = 1 << 20

    /// The content; nil where there is no file.
    func read() throws(SessionError) -> String? {
        if let fault = FileFailure.fault(ofPath: path) { throw fault }
        // Not blocking: open(2) would wait for the writer of a pipe.
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else {
            if errno == ENOENT { return nil }
            throw FileFailure.cannotRead(path, errno)
        }
        let file = OwnedDescriptor(adopting: number)
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SessionError(
                .cannotOpenFile, "\(path) is no regular file", advice: "name a file for the known hosts")
        }
        guard status.st_size <= Self.mostBytes else {
            throw SessionError(
                .cannotOpenFile, "\(path) has \(status.st_size) bytes, which is no file of known hosts",
                advice: "name another file, or remove it")
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                Glibc.read(file.number, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if more == 0 { break }
            if more > 0 { count += more } else if errno != EINTR { throw FileFailure.cannotRead(path, errno) }
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Replaces the content; synced, since a file that a loss of power leaves empty protects nothing.
    ///
    /// Readable by this user alone: it says which hosts were spoken to.
    func replace(_ text: String) throws(SessionError) {
        try OwnFile.replace(path, with: Data(text.utf8), isSynced: true)
    }
}
