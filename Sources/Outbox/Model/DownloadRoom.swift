// SPDX-License-Identifier: Apache-2.0

/// The space of a file system for a file that is fetched.
///
/// Some of it stays free: the outbox may be on the same file system, and could store nothing on a full one.
struct DownloadRoom: Sendable, Equatable {
    /// What this process may still write, in bytes.
    var free: Int64
    /// The size of the file system.
    var size: Int64

    /// What stays free: a twentieth of the file system, and no more than this.
    private static let largestReserve: Int64 = 16 << 20

    var reserve: Int64 { min(size / 20, Self.largestReserve) }

    /// Why so many more bytes have no room, in a sentence; nil if they have.
    func shortfall(of bytes: Int64) -> String? {
        let available = max(free - reserve, 0)
        guard bytes > available else { return nil }
        return "no room: needs \(ByteText.text(bytes, .up)), \(ByteText.text(available)) free"
    }

    /// The same after a write has failed, where the size of the whole is not known.
    static func exhausted(after bytes: Int64) -> String {
        "no room: the disk was full after \(ByteText.text(bytes))"
    }
}
