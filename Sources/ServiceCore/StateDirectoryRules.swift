// SPDX-License-Identifier: Apache-2.0

/// From whose state directory requests are sent: what lies in it decides which ones, and which files are read for their secrets.
package enum StateDirectoryRules {
    /// Why a directory that is there is not used; nil where it is.
    ///
    /// A group with write access is trusted like the service's user.
    ///
    /// - Parameters:
    ///   - owner: Whose it is (stat(2)).
    ///   - mode: Its permission bits.
    ///   - user: the user that would send.
    package static func refusal(owner: UInt32, mode: UInt32, user: UInt32) -> String? {
        if owner != 0, owner != user {
            return
                "belongs to user \(owner), whose requests would be sent with the rights of user \(user); do it as user \(owner)"
        }
        return mode & 0o002 == 0 ? nil : "may be written by everybody (chmod o-w)"
    }
}
