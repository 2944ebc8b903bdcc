// SPDX-License-Identifier: Apache-2.0
// Verifies certificates in memory as OpenSSL does in a handshake. Needs libcurl with OpenSSL in the process.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef struct ctest_verification ctest_verification;
ctest_verification *ctest_verification_new(void);
// Adds an anchor, or a certificate of the server in its order; false if OpenSSL cannot parse it.
bool ctest_verification_add(ctest_verification *verification, bool is_anchor, const uint8_t *der, long count);
// The X509_STORE_CTX, after all are added; it lives as long as `verification`.
void *ctest_verification_start(ctest_verification *verification);
// The error that the handshake would report.
int ctest_verification_error(ctest_verification *verification);
void ctest_verification_free(ctest_verification *verification);
