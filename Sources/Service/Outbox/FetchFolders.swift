// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storage

/// The folders into which the outbox of a state directory fetches files.
package enum FetchFolders {
    /// The folder in the state directory that is used where none is configured.
    package static let name = "fetched"

    /// The configured folders, or the one in the state directory.
    package static func paths(_ configured: [String], in directory: String) -> [String] {
        guard configured.isEmpty else { return configured }
        let isAbsolute = directory.hasPrefix("/")
        return [(isAbsolute ? "" : FileManager.default.currentDirectoryPath + "/") + directory + "/" + name]
    }

    /// Makes the folder in the state directory if it is used and missing, with the rights of that
    /// directory's owner; where it cannot be made, the refusal of a download says so.
    package static func prepare(_ configured: [String], in directory: String) {
        guard configured.isEmpty else { return }
        let folder = directory + "/" + name
        let make = {
            _ = PrivateFile.makeFolder(directory)
            _ = PrivateFile.makeFolder(folder)
        }
        guard let rights = FolderRights.needed(in: directory) else { return make() }
        try? rights.perform(make)
    }
}
