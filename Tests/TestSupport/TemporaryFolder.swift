// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Where tests put what has to have a path.
package enum TemporaryFolder {
    /// `TMPDIR`, or /tmp; without a slash at its end.
    package static let path: String = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
}
