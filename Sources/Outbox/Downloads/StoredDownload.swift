// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManager

/// A validated download in the form in which it is stored.
struct StoredDownload: Sendable, Equatable {
    var path: String
    /// The name of the file that receives the content, beside ``path``.
    var part: String
    var sha256: String?
    /// Other URLs, with ASCII hosts.
    var mirrors: [String]
    var mode: UInt32
    var owner: FileOwner?
    /// A bit for each URL that is not asked any more, the request's own first (``MirrorStrikes``).
    var struck: Int64 = 0
    /// The size of the whole, once it is known.
    var total: Int64?
    /// The size of the file that is in its place, whose entry has not left yet; nil before that.
    var placed: Int64?

    /// - Parameters:
    ///   - limits: name the permitted folders.
    ///   - user: the user of the process that writes the file.
    /// - Throws: ``OutboxError`` where it cannot be carried out.
    init(_ download: OutboxDownload, _ limits: OutboxLimits, user: UInt32) throws(OutboxError) {
        let path = try DownloadPath(download.path, below: limits.downloadFolders)
        do throws(TargetFolder.Fault) {
            let folder = try TargetFolder(path, user: user, owner: download.owner)
            try folder.checkTarget()
            guard folder.isWritable else {
                throw .refused("\(path.text): its folder may not be written", advice: "choose another")
            }
        } catch { throw error.error }
        if let text = download.sha256 {
            guard SHA256Digest.parse(text) != nil else {
                throw OutboxError(
                    .badRequest, "\(TextQuote(text)) is no SHA-256",
                    advice: "give the 64 hexadecimal digits that sha256sum(1) prints")
            }
        }
        guard download.mirrors.count < MirrorStrikes.most else {
            throw OutboxError(.badRequest, "a download has at most \(MirrorStrikes.most - 1) mirrors")
        }
        guard download.mode & ~0o777 == 0, download.mode & 0o400 != 0 else {
            throw OutboxError(
                .badRequest, "a file is fetched with a mode such as 0644, without set-user-ID and its like")
        }
        self.path = path.text
        part = Self.newPart()
        sha256 = download.sha256?.lowercased()
        mirrors = []
        mode = download.mode
        owner = download.owner
        for mirror in download.mirrors {
            do {
                let url = try mirror.withASCIIHost
                guard Origin(url) != nil, url.isWeb else { throw SessionError(.badURL, "") }
                mirrors.append(url.absoluteString)
            } catch {
                throw OutboxError(
                    .badRequest, "the mirror \(mirror.textWithoutUser) is no http or https URL")
            }
        }
    }

    /// As it was stored.
    init(
        path: String, part: String, sha256: String?, mirrors: String, mode: Int64, user: Int64?,
        group: Int64?,
        struck: Int64, total: Int64?, placed: Int64?
    ) {
        (self.path, self.part, self.sha256) = (path, part, sha256)
        self.mirrors = mirrors.split(separator: "\n").map(String.init)
        self.mode = UInt32(clamping: mode)
        if let user, let group {
            owner = FileOwner(user: UInt32(clamping: user), group: UInt32(clamping: group))
        }
        (self.struck, self.total, self.placed) = (struck, total, placed)
    }

    /// A name that no other download has, of this outbox or of another one with the same folder.
    static func newPart() -> String {
        DownloadPath.partPrefix + String(UInt64.random(in: 0 ... .max), radix: 36)
    }

    /// Whether another request with the same key wants the same.
    func isSame(as other: StoredDownload) -> Bool {
        path == other.path && sha256 == other.sha256 && mirrors == other.mirrors && mode == other.mode
    }
}

/// What an attempt to fetch has brought.
struct DownloadProgress: Sendable, Equatable {
    /// As in ``StoredDownload``.
    var struck: Int64
    var total: Int64?
    /// Why it waits without having failed; nil if it does not.
    var hold: String?
    /// The size of the file that is in its place.
    var placed: Int64?
}
