// SPDX-License-Identifier: Apache-2.0

extension SessionError.Code: CustomStringConvertible {
    /// The name as it is written in a program, `timedOut`; the number alone for a code without a name.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .cancelled: "cancelled"
        case .badURL: "badURL"
        case .timedOut: "timedOut"
        case .unsupportedURL: "unsupportedURL"
        case .cannotFindHost: "cannotFindHost"
        case .cannotConnectToHost: "cannotConnectToHost"
        case .networkConnectionLost: "networkConnectionLost"
        case .tooManyRedirects: "tooManyRedirects"
        case .resourceUnavailable: "resourceUnavailable"
        case .notConnectedToInternet: "notConnectedToInternet"
        case .badServerResponse: "badServerResponse"
        case .userCancelledAuthentication: "userCancelledAuthentication"
        case .userAuthenticationRequired: "userAuthenticationRequired"
        case .zeroByteResource: "zeroByteResource"
        case .cannotDecodeRawData: "cannotDecodeRawData"
        case .cannotDecodeContentData: "cannotDecodeContentData"
        case .cannotParseResponse: "cannotParseResponse"
        case .requestBodyStreamExhausted: "requestBodyStreamExhausted"
        case .fileDoesNotExist: "fileDoesNotExist"
        case .noPermissionsToReadFile: "noPermissionsToReadFile"
        case .dataLengthExceedsMaximum: "dataLengthExceedsMaximum"
        case .secureConnectionFailed: "secureConnectionFailed"
        case .certificateHasBadDate: "certificateHasBadDate"
        case .certificateUntrusted: "certificateUntrusted"
        case .certificateHasUnknownRoot: "certificateHasUnknownRoot"
        case .certificateNotYetValid: "certificateNotYetValid"
        case .clientCertificateRejected: "clientCertificateRejected"
        case .clientCertificateRequired: "clientCertificateRequired"
        case .cannotCreateFile: "cannotCreateFile"
        case .cannotOpenFile: "cannotOpenFile"
        case .cannotCloseFile: "cannotCloseFile"
        case .cannotWriteToFile: "cannotWriteToFile"
        case .cannotRemoveFile: "cannotRemoveFile"
        case .cannotMoveFile: "cannotMoveFile"
        case .invalidHeaderField: "invalidHeaderField"
        case .missingLibrary: "missingLibrary"
        case .invalidated: "invalidated"
        case .badResumeRecord: "badResumeRecord"
        case .invalidSecurityPolicy: "invalidSecurityPolicy"
        case .checksumMismatch: "checksumMismatch"
        case .outOfResources: "outOfResources"
        case .dependencyFailed: "dependencyFailed"
        case .unsupportedBySystem: "unsupportedBySystem"
        default: "\(rawValue)"
        }
    }
}

extension SessionError.Code {
    /// Whether it says that no connection came about, or that one broke.
    package var isOfNetwork: Bool {
        switch self {
        case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost,
            .timedOut:
            true
        default: false
        }
    }
}
