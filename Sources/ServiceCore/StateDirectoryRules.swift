// SPDX-License-Identifier: Apache-2.0

/// Whose state directory the service uses: what lies in it decides what is sent, and which files are read for that.
package enum StateDirectoryRules {
    /// Why a directory that is there is not used; nil where it is.
    ///
    /// Its group may write where somebody has set it up so: who may is like the service's user then.
    ///
    /// - Parameters:
    ///   - owner: Whose it is (stat(2)).
    ///   - mode: Its permission bits.
    ///   - user: The user that the service runs as.
    package static func refusal(owner: UInt32, mode: UInt32, user: UInt32) -> String? {
        if owner != 0, owner != user {
            return
                "belongs to user \(owner), whose requests would be sent with the rights of this service; run it as that user"
        }
        return mode & 0o002 == 0 ? nil : "may be written by everybody (chmod o-w)"
    }
}
