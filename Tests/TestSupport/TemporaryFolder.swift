// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The folder for a test's files.
package enum TemporaryFolder {
    /// `TMPDIR`, or /tmp; without a slash at its end.
    package static let path: String = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
}
