// SPDX-License-Identifier: Apache-2.0

import CCurl
import FoundationEssentials
import SessionCore

extension EasyHandle {
    /// libcurl's result as an error of the session.
    func error(_ code: CURLcode, _ transfer: Transfer, _ tls: TLSSettings) -> SessionError {
        let failure = TransportFailure(
            curlCode: Int32(code.rawValue), message: message(for: code), errno: Int32(long(CURLINFO_OS_ERRNO))
        )
        let url = transfer.request.url
        let error =
            tls.error(failure, raw, url: url, evaluator: transfer.evaluator)
            ?? SessionError(transport: failure, failingURL: url)
        return error.with(response: transfer.response)
    }
}
