// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import ServiceCore
import Synchronization

/// Stores contents that come in pieces, in files without a name; used on the outbox's thread and the loop's.
final class ContentUploads: Sendable {
    /// Why a piece is refused.
    enum Refusal: Error {
        case unknown
        case limit(String)
        case disk(String)
    }

    /// A content; releasing it closes its file.
    final class Upload: Sendable {
        fileprivate let descriptor: OwnedDescriptor
        fileprivate let state = Mutex((size: Int64(0), touched: Reactor.now))

        fileprivate init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

        /// The path of its file (proc_pid_fd(5)).
        var path: String { "/proc/self/fd/\(descriptor.number)" }
    }

    private let directory: String
    private let uploads = Mutex<[String: Upload]>([:])
    private static let limit = 8
    /// The time limit between two pieces, in nanoseconds.
    private static let patience: Int64 = 60_000_000_000

    init(in directory: String) { self.directory = directory }

    /// Adds a piece; `name` is nil for a new content, and `largest` the longest permitted length.
    func add(_ piece: [UInt8], to name: String?, largest: Int64) throws(Refusal) -> (
        name: String, size: Int64
    ) {
        let (name, upload) = try upload(name)
        let size = upload.state.withLock { state in
            state.touched = Reactor.now
            state.size += Int64(piece.count)
            return state.size
        }
        guard size <= largest else {
            _ = remove(name)
            throw .limit("the content is larger than \(largest) bytes, which the outbox takes")
        }
        var rest = piece[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(upload.descriptor.number, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                let reason = String(cString: strerror(errno))
                _ = remove(name)
                throw .disk("\(directory): \(reason)")
            }
        }
        return (name, size)
    }

    /// Removes and returns a complete content; nil without one of this name.
    func remove(_ name: String) -> Upload? { uploads.withLock { $0.removeValue(forKey: name) } }

    /// Removes contents without a new piece for too long.
    func prune() {
        let now = Reactor.now
        uploads.withLock { uploads in
            uploads = uploads.filter { now - $0.value.state.withLock { $0.touched } < Self.patience }
        }
    }

    private func upload(_ name: String?) throws(Refusal) -> (String, Upload) {
        prune()
        if let name {
            guard let upload = uploads.withLock({ $0[name] }) else { throw .unknown }
            return (name, upload)
        }
        let upload = Upload(try file())
        let name = (0..<2).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }.joined()
        let isAccepted = uploads.withLock { uploads in
            guard uploads.count < Self.limit else { return false }
            uploads[name] = upload
            return true
        }
        guard isAccepted else { throw .limit("\(Self.limit) contents are being handed over already") }
        return (name, upload)
    }

    /// Makes a file and removes its name.
    private func file() throws(Refusal) -> OwnedDescriptor {
        let path = directory + "/.content-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let number = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .disk("\(directory): \(String(cString: strerror(errno)))") }
        unlink(path)
        return OwnedDescriptor(adopting: number)
    }
}
