// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// Whether a body waits until the server wants it (`Expect: 100-continue`, RFC 9110 §10.1.1).
enum ContinueExpectation {
    /// As the request says.
    case asWanted
    /// The server has refused to be asked (417), and the request is to begin anew.
    case refused
    /// The request goes without.
    case left
}

extension Transfer {
    /// A status 417 has come: whether it means the expectation alone, and the request is sent again without.
    ///
    /// libcurl would do that by itself, but sends a field that a program has set again, and hands over its
    /// second answer behind this one.
    func losesExpectation() -> Bool {
        guard easy != nil, expectation == .asWanted, SentFields(request).expectsContinue,
            body.sent == 0 || request.body?.isRewindable == true
        else { return false }
        expectation = .refused
        return true
    }

    /// Begins anew after such a refusal; false without one.
    func beginsWithoutExpectation() -> Bool {
        guard expectation == .refused else { return false }
        expectation = .left
        stay()
        return true
    }
}
