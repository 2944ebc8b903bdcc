// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

extension SessionError {
    /// An error for a result of libcurl: what happened, where, and what to try.
    ///
    /// The parameters are those of ``Code/init(curlCode:osErrno:verifyResult:isOffline:)``.
    public init(
        transport: TransportFailure, verifyResult: Int = 0, isOffline: Bool = false, failingURL: URL? = nil,
        response: SessionResponse? = nil, data: Data? = nil
    ) {
        var code = Code(
            curlCode: transport.curlCode, osErrno: transport.errno, verifyResult: verifyResult,
            isOffline: isOffline)
        // libcurl takes an answer without a status line for HTTP/0.9, and that and unknown versions and
        // statuses ("… in response", "… in HTTP response") for another protocol (CURLE_UNSUPPORTED_PROTOCOL).
        if code == .unsupportedURL,
            transport.message.contains("HTTP/0.9") || transport.message.hasSuffix("response")
        {
            code = .badServerResponse
        }
        var text = TransportText(code, curlCode: transport.curlCode)
        if code == .outOfResources, Code.tooManyFiles.contains(transport.errno) {
            text.message = "too many files are open for another connection"
            text.advice = "raise the limit (ulimit -n, LimitNOFILE=), or transfer less at once"
        }
        if !transport.message.isEmpty { text.message += ": \(Self.oneLine(transport.message))" }
        self.init(
            code, text.message, advice: text.advice, domain: text.isAboutTrust ? .security : .transfer,
            failingURL: failingURL, response: response, data: data, transport: transport)
    }

    /// The text without line breaks and other control characters, which a server may have put there.
    private static func oneLine(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(500) {
            line.append(scalar.properties.generalCategory == .control ? " " : scalar)
        }
        return String(line)
    }
}

/// What an error of the transport says.
struct TransportText {
    var message: String
    var advice: String
    /// Whether it is the server's trustworthiness that failed.
    var isAboutTrust: Bool

    init(_ code: SessionError.Code, curlCode: Int32) {
        let special = Self.byCurlCode[curlCode]
        let general = Self.byCode[code]
        (message, advice) =
            special ?? general ?? ("the transfer failed", "libcurl-errors(3) explains result \(curlCode)")
        isAboutTrust = (-1206...(-1201)).contains(code.rawValue)
    }

    /// Where one code of ours stands for several results.
    private static let byCurlCode: [Int32: (String, String)] = [
        2: ("libcurl could not start", "free memory or descriptors"),
        5: ("the proxy's name has no address", "check the proxy's name and the resolver"),
        16: ("the HTTP/2 connection broke", "try again, or with HTTP/1.1"),
        33: ("the server does not send the part that was asked for", "start from the beginning"),
        45: (
            "the connection cannot be bound to the interface", "check the interface's name and that it is up"
        ),
        58: ("the client certificate cannot be used", "check certificate, key and passphrase"),
        59: ("no cipher is common to both sides", "leave the choice of ciphers to the library"),
        77: ("the list of trusted certificates cannot be read", "install ca-certificates, or check the path"),
        82: ("the list of revoked certificates cannot be read", "check the path"),
        83: (
            "the certificate has another issuer than the one asked for", "check the issuer that is configured"
        ),
        90: (
            "the server's key is not among the pinned ones",
            "compare the pins with the server's key, and keep a spare pin"
        ),
        91: (
            "the server did not prove that its certificate is still valid",
            "ask the server's owner about OCSP stapling"
        ),
        97: ("the proxy could not connect", "check the proxy's address, port and credentials"),
    ]

    private static let byCode: [SessionError.Code: (String, String)] = [
        .cancelled: ("the transfer was cancelled", ""),
        .badURL: ("the URL cannot be used", "check its spelling"),
        .timedOut: ("a time limit passed", "try again, or allow more time"),
        .unsupportedURL: ("the protocol of the URL is not spoken", "use http or https"),
        .cannotFindHost: (
            "the host's name has no address", "check the name and the resolver (resolv.conf(5))"
        ),
        .cannotConnectToHost: (
            "the server cannot be connected to", "check host and port, and that the service runs"
        ),
        .networkConnectionLost: ("the connection broke", "try again"),
        .tooManyRedirects: ("the server redirects too often", "check the URL for a loop"),
        .resourceUnavailable: ("the resource is not there", "check the path"),
        .notConnectedToInternet: (
            "there is no network", "try again when it is back: `reach wait` tells when"
        ),
        .badServerResponse: (
            "the server's answer is no HTTP that can be used", "check host, port and protocol"
        ),
        .userAuthenticationRequired: ("the server refuses the credentials", "check user and password"),
        .cannotDecodeRawData: (
            "the content's encoding is broken or unknown",
            "try without decompression (Accept-Encoding: identity)"
        ),
        .requestBodyStreamExhausted: (
            "the body could not be read, or not from its beginning again",
            "give a body that can be read again"
        ),
        .fileDoesNotExist: ("a file is not there", "check its path"),
        .noPermissionsToReadFile: ("access is denied", "check the permissions"),
        .dataLengthExceedsMaximum: ("more was sent than is allowed", "allow more, or download to a file"),
        .secureConnectionFailed: (
            "TLS could not be set up", "check that the port speaks TLS, and which versions both sides allow"
        ),
        .certificateHasBadDate: (
            "the server's certificate has expired", "renew it there, or check this device's clock"
        ),
        .certificateUntrusted: (
            "the server's certificate is not accepted", "check that it is for this host and fits the policy"
        ),
        .certificateHasUnknownRoot: (
            "no trusted authority has signed the server's certificate",
            "install ca-certificates, or trust the server's own root"
        ),
        .certificateNotYetValid: ("the server's certificate is not valid yet", "check this device's clock"),
        .clientCertificateRequired: ("the server wants a client certificate", "configure one with its key"),
        .cannotWriteToFile: ("what came could not be stored", "check free space and permissions"),
        .missingLibrary: (
            "libcurl lacks a feature that the request needs", "install a complete libcurl, 7.88 or newer"
        ),
        .badResumeRecord: ("the download cannot be resumed", "start from the beginning"),
        .outOfResources: ("no memory, descriptor or thread was left", "free some, or raise the limits"),
    ]
}
