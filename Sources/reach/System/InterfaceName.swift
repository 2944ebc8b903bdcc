// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Interfaces as this machine's kernel knows them by name.
enum InterfaceName {
    /// Whether there is one of that name; where the kernel cannot be asked, it is taken to be there.
    static func exists(_ name: String) -> Bool {
        // A name that is no UTF-8 has been repaired on its way here, so the kernel would not know it.
        if name.unicodeScalars.contains("\u{FFFD}") { return true }
        // if_nametoindex(3): 0 for an error, ENODEV where there is none.
        return if_nametoindex(name) != 0 || errno != ENODEV
    }
}
