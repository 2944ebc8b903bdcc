// SPDX-License-Identifier: Apache-2.0

/// The codings that `Content-Encoding` names (RFC 9110 §8.4).
package enum ContentCodings {
    /// Whether a name means that nothing was done to the content: an empty one, `identity` (RFC 9110 §12.5.3), and `none`, which some
    /// servers send though it is registered nowhere.
    package static func isNone(_ name: some Collection<UInt8>) -> Bool {
        name.isEmpty || name.equalsIgnoringCase("identity".utf8) || name.equalsIgnoringCase("none".utf8)
    }
}

extension SessionResponse {
    /// Whether something was done to the content, so that its bytes are not those of the file.
    package var isEncoded: Bool {
        values(forField: "content-encoding").contains { value in
            value.split(separator: ",").contains { !ContentCodings.isNone($0.trimmingBlanks.utf8) }
        }
    }
}
