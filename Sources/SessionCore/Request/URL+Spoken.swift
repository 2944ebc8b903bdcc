// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

extension URL {
    /// The absolute `http` or `https` URL that this text is, an international name of its host in ASCII.
    package init(spoken text: String) throws(SessionError) {
        let ascii = try InternationalHost.ascii(url: text)
        guard let url = URL(string: ascii, encodingInvalidCharacters: false), url.isWeb else {
            throw SessionError(.badURL, "\(TextQuote(text)) is no http or https URL")
        }
        guard url.isSpoken else {
            throw SessionError(
                .badURL, "\(TextQuote(text)) names a place that cannot be",
                advice: URLPlace(url).hasPossiblePort
                    ? "check the name of its host" : "ports are numbers from 1 to 65535")
        }
        self = url
    }

    /// Whether a transfer can go there: http or https, with a host and a port that can be.
    package var isSpoken: Bool { isWeb && URLPlace(self).isPossible }

    /// Whether it is http or https, and names a host.
    package var isWeb: Bool {
        guard let scheme = scheme?.lowercased(), let host = host(percentEncoded: true) else { return false }
        return (scheme == "http" || scheme == "https") && !host.isEmpty
    }

    /// The absolute text without user and password: for people, in logs too.
    package var textWithoutUser: String {
        guard user(percentEncoded: true) != nil || password(percentEncoded: true) != nil else {
            return absoluteString
        }
        var reference = URIReference(absoluteString)
        reference?.setUserInfo(nil)
        return reference?.text ?? host(percentEncoded: true) ?? ""
    }

    /// The same place without user and password.
    package var withoutUser: URL {
        guard user(percentEncoded: true) != nil || password(percentEncoded: true) != nil else { return self }
        return URL(string: textWithoutUser, encodingInvalidCharacters: false) ?? self
    }

    /// With the user and password of `former` where it has none of its own and leads to the same origin.
    package func inheritingUser(from former: URL) -> URL {
        guard user == nil, let name = former.user(percentEncoded: true), let here = Origin(self),
            here == Origin(former), var reference = URIReference(absoluteString)
        else { return self }
        let password = former.password(percentEncoded: true).map { ":\($0)" } ?? ""
        reference.setUserInfo(name + password)
        return URL(string: reference.text, encodingInvalidCharacters: false) ?? self
    }
}
