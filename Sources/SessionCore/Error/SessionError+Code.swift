// SPDX-License-Identifier: Apache-2.0

extension SessionError {
    /// The kind of failure, by the number that Cocoa gives it; the project's own numbers are below −9000.
    ///
    /// More may come.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The number.
        public let rawValue: Int
        /// The code with this number.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// What happened has no number of its own; the message says it.
        public static let unknown = Code(rawValue: -1)
        /// The task was cancelled.
        public static let cancelled = Code(rawValue: -999)
        /// The URL cannot be used.
        public static let badURL = Code(rawValue: -1000)
        /// A time limit passed.
        public static let timedOut = Code(rawValue: -1001)
        /// The scheme is neither http nor https.
        public static let unsupportedURL = Code(rawValue: -1002)
        /// The name of the host has no address.
        public static let cannotFindHost = Code(rawValue: -1003)
        /// The host refuses the connection or cannot be reached.
        public static let cannotConnectToHost = Code(rawValue: -1004)
        /// The connection broke while it was used.
        public static let networkConnectionLost = Code(rawValue: -1005)
        /// More redirects than allowed.
        public static let tooManyRedirects = Code(rawValue: -1007)
        /// The cache was to answer and could not.
        public static let resourceUnavailable = Code(rawValue: -1008)
        /// There is no network.
        public static let notConnectedToInternet = Code(rawValue: -1009)
        /// The response's status is not acceptable, or the response is no HTTP.
        public static let badServerResponse = Code(rawValue: -1011)
        /// The user declined to authenticate.
        public static let userCancelledAuthentication = Code(rawValue: -1012)
        /// The server wants credentials.
        public static let userAuthenticationRequired = Code(rawValue: -1013)
        /// The response has no content where some is needed.
        public static let zeroByteResource = Code(rawValue: -1014)
        /// The content's encoding is broken (`Content-Encoding`).
        public static let cannotDecodeRawData = Code(rawValue: -1015)
        /// The content has the wrong type, or parameters cannot be encoded.
        public static let cannotDecodeContentData = Code(rawValue: -1016)
        /// The content cannot be parsed.
        public static let cannotParseResponse = Code(rawValue: -1017)
        /// The body cannot be sent again, or could not be read.
        public static let requestBodyStreamExhausted = Code(rawValue: -1021)
        /// A file to send is not there.
        public static let fileDoesNotExist = Code(rawValue: -1100)
        /// A file may not be read.
        public static let noPermissionsToReadFile = Code(rawValue: -1102)
        /// The response is larger than allowed.
        public static let dataLengthExceedsMaximum = Code(rawValue: -1103)
        /// TLS could not be set up.
        public static let secureConnectionFailed = Code(rawValue: -1200)
        /// The server's certificate has expired.
        public static let certificateHasBadDate = Code(rawValue: -1201)
        /// The server's certificate is not accepted: name, pin or policy.
        public static let certificateUntrusted = Code(rawValue: -1202)
        /// No trusted issuer has signed the server's certificate.
        public static let certificateHasUnknownRoot = Code(rawValue: -1203)
        /// The server's certificate is not valid yet.
        public static let certificateNotYetValid = Code(rawValue: -1204)
        /// The server refuses the client's certificate.
        public static let clientCertificateRejected = Code(rawValue: -1205)
        /// The server wants a client certificate.
        public static let clientCertificateRequired = Code(rawValue: -1206)
        /// A file cannot be created.
        public static let cannotCreateFile = Code(rawValue: -3000)
        /// A file cannot be opened.
        public static let cannotOpenFile = Code(rawValue: -3001)
        /// A file cannot be closed: the last bytes may be missing.
        public static let cannotCloseFile = Code(rawValue: -3002)
        /// A file cannot be written, for instance because the disk is full.
        public static let cannotWriteToFile = Code(rawValue: -3003)
        /// A file cannot be removed.
        public static let cannotRemoveFile = Code(rawValue: -3004)
        /// A file cannot be moved to its destination, for instance because something is there.
        public static let cannotMoveFile = Code(rawValue: -3005)

        /// A name or value of a header field would break the request apart.
        public static let invalidHeaderField = Code(rawValue: -9001)
        /// A library is missing or lacks a feature that the request needs.
        public static let missingLibrary = Code(rawValue: -9002)
        /// The manager has been invalidated.
        public static let invalidated = Code(rawValue: -9003)
        /// A record to resume a download from is unusable.
        public static let badResumeRecord = Code(rawValue: -9004)
        /// A security policy does not fit the manager.
        public static let invalidSecurityPolicy = Code(rawValue: -9005)
        /// The content does not have the expected checksum.
        public static let checksumMismatch = Code(rawValue: -9006)
        /// No memory, descriptor or thread was left.
        public static let outOfResources = Code(rawValue: -9007)
        /// A task that this one was to follow has failed.
        public static let dependencyFailed = Code(rawValue: -9008)
        /// The kernel lacks, or refuses this process, what is asked for.
        public static let unsupportedBySystem = Code(rawValue: -9009)
    }

    /// The part that failed.
    public enum Domain: String, Sendable {
        /// Sending and receiving.
        case transfer
        /// Putting parameters into a request.
        case requestSerialization
        /// Judging and decoding a response.
        case responseSerialization
        /// Trusting a server.
        case security
    }
}
