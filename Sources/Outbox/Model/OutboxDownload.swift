// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
import HTTPTypes

/// What an outbox does with the content of a URL that it fetches: it becomes a file.
public struct OutboxDownload: Sendable, Equatable {
    /// Where the file is put, as a whole (rename(2)): an absolute path below one of
    /// ``OutboxLimits/downloadFolders``.
    ///
    /// Its folder has to be there, and no part of the path below that folder may be a link. A file that is
    /// there is replaced if it has the owner that the new one gets.
    public var path: String
    /// The SHA-256 of the content, as sha256sum(1) prints it; nil checks nothing.
    ///
    /// With it, a file that is there already with this content is not fetched again.
    public var sha256: String?
    /// Other URLs of the content, asked in their order; at most 16.
    ///
    /// One whose content has another checksum, or that answers 404 or another lasting refusal, is not asked
    /// again.
    public var mirrors: [URL] = []
    /// The mode of the file, without set-user-ID and its like; 0644.
    public var mode: UInt32 = 0o644
    /// Who gets the file if root delivers; nil for root.
    package var owner: FileOwner?

    /// A download into a file.
    public init(to path: String, sha256: String? = nil, mirrors: [URL] = []) {
        (self.path, self.sha256, self.mirrors) = (path, sha256, mirrors)
    }
}

/// A user and a group of the machine.
package struct FileOwner: Sendable, Equatable {
    package var user: UInt32
    package var group: UInt32

    package init(user: UInt32, group: UInt32) { (self.user, self.group) = (user, group) }
}

extension OutboxRequest {
    /// A request that fetches the content of a URL into a file, in the lane `downloads`.
    ///
    /// What has come survives restarts and reboots: the rest is asked for. See ``OutboxDownload``.
    public static func download(
        _ url: URL, to path: String, sha256: String? = nil, mirrors: [URL] = []
    ) -> OutboxRequest {
        var request = OutboxRequest(url: url, method: .get)
        request.lane = "downloads"
        request.download = OutboxDownload(to: path, sha256: sha256, mirrors: mirrors)
        return request
    }
}

/// A file that an outbox has fetched, which is in its place and on the disk.
public struct FetchedFile: Sendable, Equatable {
    /// The entry, which is still in the outbox.
    public let id: OutboxID
    /// The path of the file.
    public let path: String
    /// The URL that was asked for first, without user and password.
    public let url: String
    /// The SHA-256 that the file was wanted with; nil without one.
    public let sha256: String?
    /// The size of the file in bytes.
    public let bytes: Int64

    package init(id: OutboxID, path: String, url: String, sha256: String?, bytes: Int64) {
        (self.id, self.path, self.url, self.sha256, self.bytes) = (id, path, url, sha256, bytes)
    }
}
