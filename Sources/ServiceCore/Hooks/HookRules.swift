// SPDX-License-Identifier: Apache-2.0

/// The file system's attributes of a hook or its directory (lstat(2)).
package struct HookFile: Sendable, Equatable {
    package enum Kind: Sendable, Equatable { case file, directory, link, other }

    package var kind: Kind
    package var owner: UInt32
    /// The permission bits.
    package var mode: UInt32

    package init(kind: Kind, owner: UInt32, mode: UInt32) {
        self.kind = kind
        self.owner = owner
        self.mode = mode
    }
}

/// Decides which programs the service runs: those that only root or its own user can have placed.
package enum HookRules {
    /// Why a program is not run; nil if it may be, as those of root and of `user`, the service's own.
    package static func refusal(_ file: HookFile, user: UInt32) -> String? {
        switch file.kind {
        case .link: return "is a symbolic link; put the program itself there"
        case .directory, .other: return "is no program"
        case .file: break
        }
        if let refusal = ownership(file, user: user) { return refusal }
        if file.mode & 0o6000 != 0 { return "is set-user-ID or set-group-ID; take that away (chmod ug-s)" }
        if file.mode & 0o111 == 0 { return "is not executable (chmod +x)" }
        return nil
    }

    /// Why no program of a directory is run; nil if they may be.
    package static func refusal(directory: HookFile, user: UInt32) -> String? {
        guard directory.kind == .directory else { return "is no directory" }
        return ownership(directory, user: user)
    }

    private static func ownership(_ file: HookFile, user: UInt32) -> String? {
        if file.owner != 0, file.owner != user {
            return user == 0
                ? "does not belong to root (chown root)"
                : "belongs neither to root nor to the service's user"
        }
        return file.mode & 0o022 == 0 ? nil : "may be written by others (chmod go-w)"
    }

    /// Whether a name is a hook's: not hidden, and no leftover of editors and package managers.
    package static func isHook(_ name: String) -> Bool {
        guard let first = name.utf8.first, first != UInt8(ascii: "."), !name.hasSuffix("~")
        else { return false }
        return ![
            ".rpmsave", ".rpmorig", ".rpmnew", ".swp", ".bak", ".disabled", ".dpkg-old", ".dpkg-dist",
            ".dpkg-new", ".dpkg-tmp",
        ]
        .contains { name.hasSuffix($0) }
    }
}
