// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// A self-signed certificate of openssl-req(1): `/O=Reach tests/CN=pinned.example`, valid for 30,000 days,
/// with names and addresses.
enum CertificateFixture {
    static let pem = """
        -----BEGIN CERTIFICATE-----
        MIIB/TCCAaKgAwIBAgIUVfSkPVHITHWiGiHge/bfTEL3g/8wCgYIKoZIzj0EAwIw
        LzEUMBIGA1UECgwLUmVhY2ggdGVzdHMxFzAVBgNVBAMMDnBpbm5lZC5leGFtcGxl
        MCAXDTI2MTEyMTA1NDE1OFoYDzIxMDkwMTEwMDU0MTU4WjAvMRQwEgYDVQQKDAtS
        ZWFjaCB0ZXN0czEXMBUGA1UEAwwOcGlubmVkLmV4YW1wbGUwWTATBgcqhkjOPQIB
        BggqhkjOPQMBBwNCAASVCyJAg0YpiP1CQYrm9G10KeoUoOh9wEoaX6C6UxifgCQH
        V6hysDVMcsimfYixYgEUoonH9QWpR0g95IUjlKIlo4GZMIGWMB0GA1UdDgQWBBTM
        zNLfXVEFL0IOI+IVNT2GJvgFUTAfBgNVHSMEGDAWgBTMzNLfXVEFL0IOI+IVNT2G
        JvgFUTAPBgNVHRMBAf8EBTADAQH/MEMGA1UdEQQ8MDqCDnBpbm5lZC5leGFtcGxl
        ghAqLnBpbm5lZC5leGFtcGxlhwTAAAIHhxAgAQ24AAAAAAAAAAAAAAAHMAoGCCqG
        SM49BAMCA0kAMEYCIQCvc7srWNsqs1+UCRr5bbCat+rR/wcOxZLWvxOWX4j/hgIh
        AKVyXqAtkO0jHdcLEBNtDtgiIxxtMCDsu6xHbypy2T/x
        -----END CERTIFICATE-----

        """
    /// What openssl-x509(1) prints with `-pubkey`.
    static let publicKey =
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAElQsiQINGKYj9QkGK5vRtdCnqFKDofcBKGl+gulMYn4AkB1eocrA1THLIpn2IsWIBFKKJx/UFqUdIPeSFI5SiJQ=="

    static var der: Data { PEM.certificates(pem)?.first ?? Data() }
}
