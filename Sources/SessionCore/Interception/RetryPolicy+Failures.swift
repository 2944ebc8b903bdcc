// SPDX-License-Identifier: Apache-2.0

extension RetryPolicy {
    /// The failures that may pass by themselves: Alamofire's list.
    ///
    /// Those without a name here come from other transports.
    public static let passingFailures: Set<SessionError.Code> = [
        .badServerResponse, .cannotConnectToHost, .cannotFindHost, .networkConnectionLost,
        .notConnectedToInternet,
        .secureConnectionFailed, .certificateHasBadDate, .certificateNotYetValid, .timedOut,
        SessionError.Code(rawValue: -996),  // a background session was disconnected
        SessionError.Code(rawValue: -997),  // a background session is in use by another process
        SessionError.Code(rawValue: -1006),  // DNS lookup failed
        SessionError.Code(rawValue: -1018),  // roaming is off
        SessionError.Code(rawValue: -1019),  // a call is active
        SessionError.Code(rawValue: -1020),  // data are not allowed
        SessionError.Code(rawValue: -2000),  // cannot load from the network
        SessionError.Code(rawValue: -3006),  // decoding a download failed midway
        SessionError.Code(rawValue: -3007),  // decoding a download failed at its end
    ]
}
