// SPDX-License-Identifier: Apache-2.0

/// Whether the journal reads a descriptor: `JOURNAL_STREAM` names its device and inode (systemd.exec(5)).
package enum JournalStream {
    package static func matches(_ variable: String?, device: UInt64, inode: UInt64) -> Bool {
        let parts = (variable ?? "").split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && UInt64(parts[0]) == device && UInt64(parts[1]) == inode
    }
}
