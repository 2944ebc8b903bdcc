// SPDX-License-Identifier: Apache-2.0

import CCurl
import FoundationEssentials
import SessionCore

/// Options of an easy handle that protect: one that is not taken is an error.
struct TLSOptions {
    private let easy: UnsafeMutableRawPointer

    init(_ easy: UnsafeMutableRawPointer) { self.easy = easy }

    func check(_ code: CURLcode, _ option: CURLoption) throws(SessionError) {
        guard code != CURLE_OK else { return }
        throw SessionError(
            code == CURLE_OUT_OF_MEMORY ? .outOfResources : .missingLibrary,
            "this libcurl does not take the security option \(option.rawValue): \(String(cString: ccurl_easy_text(code)))",
            advice: "install libcurl with OpenSSL (on Debian: libcurl4)", domain: .security,
            transport: TransportFailure(
                curlCode: Int32(code.rawValue), message: String(cString: ccurl_easy_text(code))))
    }

    func set(_ option: CURLoption, _ value: Int) throws(SessionError) {
        try check(ccurl_set_long(easy, option, value), option)
    }

    func set(_ option: CURLoption, _ text: String?) throws(SessionError) {
        guard let text else { return try check(ccurl_set_string(easy, option, nil), option) }
        try check(text.withCString { ccurl_set_string(easy, option, $0) }, option)
    }

    /// libcurl copies the bytes.
    func set(_ option: CURLoption, _ bytes: some Collection<UInt8>) throws(SessionError) {
        let bytes = Array(bytes)
        try check(bytes.withUnsafeBytes { ccurl_set_blob(easy, option, $0.baseAddress, $0.count) }, option)
    }

    func set(_ identity: ClientIdentity) throws(SessionError) {
        switch identity {
        case .pem(let certificate, let key, let passphrase):
            try set(CURLOPT_SSLCERTTYPE, "PEM")
            try set(certificate, CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB)
            try set(key ?? certificate, CURLOPT_SSLKEY, CURLOPT_SSLKEY_BLOB)
            // Without one OpenSSL asks on the terminal (pem_password_cb(3)), and the loop's thread waits; for
            // an empty one libcurl sets a callback of its own (cert_stuff in lib/vtls/openssl.c).
            try set(CURLOPT_KEYPASSWD, passphrase ?? "")
        case .pkcs12(let source, let passphrase):
            try set(CURLOPT_SSLCERTTYPE, "P12")
            try set(source, CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB)
            // PKCS12_parse(3) never asks, and takes nil for none or an empty one.
            try set(CURLOPT_KEYPASSWD, passphrase)
        }
    }

    private func set(
        _ source: ClientIdentity.Source, _ path: CURLoption, _ blob: CURLoption
    ) throws(SessionError) {
        switch source {
        case .file(let name): try set(path, name)
        case .data(let bytes): try set(blob, bytes)
        }
    }

    func version(_ version: TLSVersion) -> Int {
        switch version {
        case .tls1_0: CURL_SSLVERSION_TLSv1_0
        case .tls1_1: CURL_SSLVERSION_TLSv1_1
        case .tls1_2: CURL_SSLVERSION_TLSv1_2
        case .tls1_3: CURL_SSLVERSION_TLSv1_3
        }
    }
}
