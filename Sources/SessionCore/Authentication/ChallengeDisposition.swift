// SPDX-License-Identifier: Apache-2.0

/// What is to be done about a challenge.
public enum ChallengeDisposition: Sendable {
    /// This answers it.
    ///
    /// A credential that was refused in the same place before is not sent again: the response is the answer then.
    case useCredential(Credential)
    /// What would be done if nobody were asked: the security policy judges certificates, a proposed credential is tried once,
    /// and otherwise the response is the answer.
    case performDefaultHandling
    /// The task ends with ``SessionError/Code/cancelled``.
    case cancel
    /// This offer is passed over for the next one of the server; behind the last one the response is the answer.
    ///
    /// Certificates of a server that are passed over are refused.
    case rejectProtectionSpace
}
