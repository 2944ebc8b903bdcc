// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// What a network says of its own page to sign in (RFC 8908), at an address that DHCP or router
/// advertisements gave (RFC 8910).
package struct CaptivePortal: Sendable, Equatable {
    /// More than such an answer has.
    package static let longestAnswer: Int64 = 16 << 10
    package static let mediaType = "application/captive+json"

    /// Whether the network holds this machine back until a person signs in.
    package let isCaptive: Bool
    /// Where to sign in; nil where nothing usable is said.
    package let signInURL: URL?

    /// The address to ask, from a file of networkd's; nil for what is no https URL: RFC 8908 §4 wants TLS, and
    /// `urn:ietf:params:capport:unrestricted` says that there is no portal (RFC 8910 §2).
    package static func address(_ text: String?) -> URL? {
        guard let text, text.utf8.count <= 2048, let url = URL(string: text),
            url.scheme?.lowercased() == "https", url.host()?.isEmpty == false
        else { return nil }
        return url
    }

    /// Nil for any other answer than the one of RFC 8908 §5.
    package init?(_ response: SessionResponse?, _ data: Data?) {
        guard let response, response.statusCode == 200,
            response.mimeType?.lowercased() == Self.mediaType, let data, data.count <= Self.longestAnswer,
            let json = try? JSONValue(parsing: data), let isCaptive = json["captive"]?.bool
        else { return nil }
        self.isCaptive = isCaptive
        let url = json["user-portal-url"]?.string.flatMap { URL(string: $0) }
        signInURL = url.flatMap { InternetExpectation.isOfWeb($0) ? $0 : nil }
    }

    package init(isCaptive: Bool, signInURL: URL? = nil) {
        self.isCaptive = isCaptive
        self.signInURL = signInURL
    }
}

extension InternetAnswer {
    /// Whether the network's own word may tell more.
    package var wantsPortal: Bool { state == .portal || state == .limited }

    /// The answer together with what the network says; nil where it says nothing.
    ///
    /// What the probe has found holds; a network that holds everything back without a word of its own has a
    /// portal nevertheless, where it says so.
    package func joined(with portal: CaptivePortal?) -> InternetAnswer {
        guard wantsPortal, let portal, portal.isCaptive else { return self }
        var reason = state == .portal ? reason : "the network says that a sign-in is missing; \(reason)"
        if let url = portal.signInURL, url != portalURL { reason += "; sign in at \(url.textWithoutUser)" }
        return InternetAnswer(.portal, reason, portalURL: portal.signInURL ?? portalURL)
    }
}
