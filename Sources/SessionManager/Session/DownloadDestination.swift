// SPDX-License-Identifier: Apache-2.0

/// Where a finished download is put, and how.
public struct DownloadDestination: Sendable, Equatable {
    /// The file's path.
    public var path: String
    /// Whether missing directories are made; no.
    public var createsDirectories: Bool
    /// Whether a file that is there already is replaced, at once and as a whole (rename(2)); no: the task fails then and the old file stays.
    public var replacesExisting: Bool

    /// A destination.
    public init(_ path: String, createsDirectories: Bool = false, replacesExisting: Bool = false) {
        self.path = path
        self.createsDirectories = createsDirectories
        self.replacesExisting = replacesExisting
    }
}
