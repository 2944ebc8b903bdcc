// SPDX-License-Identifier: Apache-2.0

/// What to do about an error where code depends on it, or a setting helps: a program names its own options.
package enum SessionRemedy: Sendable, Equatable, CaseIterable {
    /// Wait longer for a server that says nothing.
    case longerSilence
    /// Wait longer for the first byte of the answer.
    case longerFirstByte
    /// Give the whole task more time.
    case longerTask
    /// Take more content.
    case moreContent, moreContentOrFile
    /// Show a client certificate.
    case clientIdentity
    /// Give the passphrase of the client's key.
    case passphrase
    /// Look at the client's certificate, key and passphrase.
    case identityParts
    /// Trust another authority.
    case trustRoot, trustRootOrChain, trustCertificate
    /// Look at the authorities that are trusted.
    case rootsFile
    /// Have the server speak a newer TLS.
    case newerTLS
    /// Ask for content that is not compressed.
    case plainContent
    /// Make room on the disk, or in the user's share of it.
    case freeSpace

    /// In the words of this library.
    package var advice: String {
        switch self {
        case .longerSilence: "see whether the server is overloaded, or raise timeoutInterval"
        case .longerFirstByte: "see whether the server is overloaded, or raise timeouts.firstByte"
        case .longerTask: "try again, or raise timeouts.total"
        case .moreContent: "raise maximumContentLength"
        case .moreContentOrFile: "download it to a file, or raise maximumContentLength"
        case .clientIdentity: "give the security policy a client identity"
        case .passphrase: "give the passphrase of the client's key, or a key without one"
        case .identityParts:
            "check its form, its passphrase, and that the key belongs to the certificate"
        case .trustRoot: "add that authority to the trust roots"
        case .trustRootOrChain:
            "add that authority to the trust roots, or let the server send its intermediate certificates"
        case .trustCertificate: "add it to the trust roots, or pin it"
        case .rootsFile: "check the policy's trust roots, or install ca-certificates"
        case .newerTLS: "the server is older than the policy's minimum TLS version allows"
        case .plainContent: "ask for it without (decompressesContent = false)"
        case .freeSpace: "free some space; nothing that was there before has been changed"
        }
    }
}
