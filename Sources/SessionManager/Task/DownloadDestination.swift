// SPDX-License-Identifier: Apache-2.0

public import SessionCore

/// Where a finished download is put, and what is checked before.
public struct DownloadDestination: Sendable, Equatable {
    /// The file's path.
    public var path: String
    /// The SHA-256 of the file, as sha256sum(1) prints it; nil checks nothing.
    ///
    /// Where the content has another one, nothing is put there, what was received is removed, a part for
    /// resumption included, and the task fails with ``SessionCore/SessionError/Code/checksumMismatch``. It
    /// is computed by the OpenSSL below libcurl, of the content as it is written to the file: where a server
    /// compresses it, of what comes out.
    public var sha256: String?
    /// Whether missing directories are made; no: the task fails then.
    ///
    /// It fails before it receives the content, where the destination is known beforehand.
    public var createsDirectories: Bool
    /// Whether an existing file is replaced, at once and as a whole (rename(2)); no: the task fails then.
    ///
    /// It fails before it receives the content, where the destination is known beforehand and the file is
    /// there already. A device, a pipe or a socket is never replaced.
    public var replacesExisting: Bool

    /// A destination.
    public init(
        _ path: String, sha256: String? = nil, createsDirectories: Bool = false,
        replacesExisting: Bool = false
    ) {
        self.path = path
        self.sha256 = sha256
        self.createsDirectories = createsDirectories
        self.replacesExisting = replacesExisting
    }
}

/// How a download task comes to its ``DownloadDestination``: known beforehand, or chosen when it is complete.
///
/// A type instead of a closure: a trailing closure is always the completion block.
public struct DownloadPlacement: Sendable {
    let choose: @Sendable (_ temporaryPath: String, SessionResponse) -> DownloadDestination?
    /// The destination, where it does not depend on the content.
    var known: DownloadDestination?
    /// Whether it is known beforehand that a checksum is compared.
    var isChecked: Bool { known?.sha256 != nil }

    /// This destination.
    public static func file(_ destination: DownloadDestination) -> DownloadPlacement {
        DownloadPlacement(choose: { _, _ in destination }, known: destination)
    }

    /// This path, where nothing may be yet.
    public static func file(_ path: String) -> DownloadPlacement { .file(DownloadDestination(path)) }

    /// What a block says when the content is complete; nil leaves the file at its temporary path.
    ///
    /// The block is called off the transferring thread.
    public static func chosen(
        _ choose: @escaping @Sendable (_ temporaryPath: String, SessionResponse) -> DownloadDestination?
    ) -> DownloadPlacement {
        DownloadPlacement(choose: choose)
    }
}
