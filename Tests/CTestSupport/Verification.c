// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "Verification.h"

#include <dlfcn.h>
#include <stdlib.h>

// OpenSSL below libcurl, which the test has loaded.
static void *function(const char *name) {
    void *handle = dlopen("libcurl.so.4", RTLD_NOLOAD | RTLD_LAZY);
    return handle ? dlsym(handle, name) : 0;
}
#define CALL(type, name, ...) ((type)function(#name))(__VA_ARGS__)
typedef void *make(void);
typedef void drop(void *);
typedef int add(void *, void *);

struct ctest_verification {
    void *context, *anchors, *presented;
};

ctest_verification *ctest_verification_new(void) {
    if (!function("X509_STORE_CTX_new")) return 0;
    ctest_verification *verification = malloc(sizeof *verification);
    if (!verification) return 0;
    verification->context = CALL(make *, X509_STORE_CTX_new, );
    verification->anchors = CALL(make *, X509_STORE_new, );
    verification->presented = CALL(make *, OPENSSL_sk_new_null, );
    return verification;
}

bool ctest_verification_add(ctest_verification *verification, bool is_anchor, const uint8_t *der, long count) {
    const unsigned char *position = der;
    void *certificate = CALL(void *(*)(void *, const unsigned char **, long), d2i_X509, 0, &position, count);
    if (!certificate) {
        CALL(void (*)(void), ERR_clear_error, );
        return false;
    }
    if (!is_anchor) return CALL(add *, OPENSSL_sk_push, verification->presented, certificate) > 0;
    bool added = CALL(add *, X509_STORE_add_cert, verification->anchors, certificate) == 1;
    CALL(drop *, X509_free, certificate);
    return added;
}

void *ctest_verification_start(ctest_verification *verification) {
    void *leaf = CALL(void *(*)(void *, int), OPENSSL_sk_value, verification->presented, 0);
    int ready = CALL(
        int (*)(void *, void *, void *, void *), X509_STORE_CTX_init, verification->context, verification->anchors,
        leaf, verification->presented);
    CALL(int (*)(void *, const char *), X509_STORE_CTX_set_default, verification->context, "ssl_server");
    return ready ? verification->context : 0;
}

void ctest_verification_set_level(ctest_verification *verification, int level) {
    void *parameters = CALL(void *(*)(void *), X509_STORE_CTX_get0_param, verification->context);
    CALL(void (*)(void *, int), X509_VERIFY_PARAM_set_auth_level, parameters, level);
}

int ctest_verification_error(ctest_verification *verification) {
    return CALL(int (*)(void *), X509_STORE_CTX_get_error, verification->context);
}

void ctest_verification_free(ctest_verification *verification) {
    CALL(drop *, X509_STORE_CTX_free, verification->context);
    CALL(drop *, X509_STORE_free, verification->anchors);
    CALL(void (*)(void *, void *), OPENSSL_sk_pop_free, verification->presented, function("X509_free"));
    free(verification);
}
