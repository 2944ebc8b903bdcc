// SPDX-License-Identifier: Apache-2.0

extension SessionError.Code {
    /// The code for a result of libcurl (libcurl-errors(3)).
    ///
    /// - Parameters:
    ///   - curlCode: the `CURLcode`.
    ///   - osErrno: the errno(3) of the last failed connection (`CURLINFO_OS_ERRNO`); 0 for none.
    ///   - verifyResult: `CURLINFO_SSL_VERIFYRESULT`: a number of OpenSSL's `x509_vfy.h`, or the bits of
    ///     GnuTLS's `gnutls_certificate_status_t`; 0 for nothing.
    ///   - isOffline: whether the device is known to have no network.
    public init(curlCode: Int32, osErrno: Int32 = 0, verifyResult: Int = 0, isOffline: Bool = false) {
        self =
            switch curlCode {
            // Without a network, failed look-ups and connections have that cause.
            case 5, 6: isOffline ? .notConnectedToInternet : .cannotFindHost
            case 7, 45, 96, 97:
                Self.tooManyFiles.contains(osErrno)
                    ? .outOfResources
                    : isOffline || Self.unreachableNetwork.contains(osErrno)
                        ? .notConnectedToInternet : .cannotConnectToHost
            case 51, 60, 83, 90, 91: Self(verifyResult: verifyResult, curlCode: curlCode)
            default: Self.plain[curlCode] ?? .unknown
            }
    }

    /// ENETDOWN, ENETUNREACH and EHOSTUNREACH of Linux (errno(3); the same on all of Swift's processors).
    private static let unreachableNetwork: Set<Int32> = [100, 101, 113]

    /// ENFILE and EMFILE: no descriptor was left for a socket.
    static let tooManyFiles: Set<Int32> = [23, 24]

    /// Codes that depend on nothing else.
    private static let plain: [Int32: SessionError.Code] = [
        1: .unsupportedURL, 2: .outOfResources, 3: .badURL, 4: .missingLibrary, 8: .badServerResponse,
        9: .noPermissionsToReadFile, 16: .networkConnectionLost, 18: .networkConnectionLost,
        22: .badServerResponse, 23: .cannotWriteToFile, 26: .requestBodyStreamExhausted, 27: .outOfResources,
        28: .timedOut, 33: .badServerResponse, 35: .secureConnectionFailed, 36: .badResumeRecord,
        37: .fileDoesNotExist, 41: .missingLibrary, 42: .cancelled, 47: .tooManyRedirects,
        48: .missingLibrary, 52: .networkConnectionLost, 53: .secureConnectionFailed,
        54: .secureConnectionFailed, 55: .networkConnectionLost, 56: .networkConnectionLost,
        58: .clientCertificateRejected, 59: .secureConnectionFailed, 61: .cannotDecodeRawData,
        63: .dataLengthExceedsMaximum, 64: .secureConnectionFailed, 65: .requestBodyStreamExhausted,
        66: .secureConnectionFailed, 67: .userAuthenticationRequired, 77: .secureConnectionFailed,
        78: .resourceUnavailable, 80: .networkConnectionLost, 81: .networkConnectionLost,
        82: .secureConnectionFailed, 92: .networkConnectionLost, 94: .userAuthenticationRequired,
        95: .networkConnectionLost, 98: .clientCertificateRequired, 99: .outOfResources,
        100: .dataLengthExceedsMaximum, 101: .secureConnectionFailed,
    ]

    /// Why a certificate is not accepted.
    private init(verifyResult: Int, curlCode: Int32) {
        // A pin, a revocation answer or an issuer that does not fit says nothing about dates.
        guard curlCode == 51 || curlCode == 60 else {
            self = .certificateUntrusted
            return
        }
        self =
            switch verifyResult {
            // X509_V_ERR_CERT_NOT_YET_VALID, …_CERT_HAS_EXPIRED
            case 9: .certificateNotYetValid
            case 10: .certificateHasBadDate
            // …_UNABLE_TO_GET_ISSUER_CERT(_LOCALLY), …_SELF_SIGNED_CERT(_IN_CHAIN), …_VERIFY_LEAF_SIGNATURE
            case 2, 18, 19, 20, 21: .certificateHasUnknownRoot
            // GNUTLS_CERT_NOT_ACTIVATED, _EXPIRED, each with _INVALID; OpenSSL's numbers end below 256.
            case 256... where verifyResult & 1 << 9 != 0: .certificateNotYetValid
            case 256... where verifyResult & 1 << 10 != 0: .certificateHasBadDate
            default: .certificateUntrusted
            }
    }
}
