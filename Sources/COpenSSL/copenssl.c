// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLoader.h"
#include "COpenSSL.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

// OpenSSL's types stay opaque, and its functions are declared as in the manual pages of 3.0, so that building
// needs no headers of it. Options and flags have 64 bits since 3.0, so nothing older is supported.
typedef struct ssl_ctx SSL_CTX;
typedef struct ssl SSL;
typedef struct ssl_cipher SSL_CIPHER;
typedef struct x509 X509;
typedef struct x509_store X509_STORE;
typedef struct x509_store_ctx X509_STORE_CTX;
typedef struct verify_param X509_VERIFY_PARAM;
typedef struct stack OPENSSL_STACK;
typedef struct evp_md_ctx EVP_MD_CTX;
typedef struct evp_md EVP_MD;

typedef void free_ex_data(void *parent, void *pointer, void *data, int index, long argl, void *argp);
typedef int verify_callback(X509_STORE_CTX *context, void *argument);
typedef void message_callback(int is_sent, int version, int type, const void *bytes, size_t count, SSL *ssl, void *argument);

enum {
    X509_V_ERR_UNSPECIFIED = 1,
    X509_V_ERR_OUT_OF_MEM = 17,
    SSL_VERIFY_PEER = 1,
    CRYPTO_EX_INDEX_SSL = 0,
    CRYPTO_EX_INDEX_SSL_CTX = 1,
    SSL3_RT_ALERT = 21,
    SSL_AD_CLOSE_NOTIFY = 0,
    NAMETYPE_HOST_NAME = 0,
};
#define X509_V_FLAG_PARTIAL_CHAIN 0x80000UL
#define X509_V_FLAG_NO_CHECK_TIME 0x200000UL

#define FUNCTIONS(X)                                                                                           \
    X(CRYPTO_free, void, (void *, const char *, int))                                                          \
    X(CRYPTO_get_ex_new_index, int, (int, long, void *, void *, void *, free_ex_data *))                       \
    X(ERR_clear_error, void, (void))                                                                           \
    X(OPENSSL_sk_num, int, (const OPENSSL_STACK *))                                                            \
    X(OPENSSL_sk_value, void *, (const OPENSSL_STACK *, int))                                                  \
    X(OPENSSL_sk_pop_free, void, (OPENSSL_STACK *, void (*)(void *)))                                          \
    X(SHA256, unsigned char *, (const unsigned char *, size_t, unsigned char *))                               \
    X(EVP_MD_CTX_new, EVP_MD_CTX *, (void))                                                                    \
    X(EVP_MD_CTX_free, void, (EVP_MD_CTX *))                                                                   \
    X(EVP_sha256, const EVP_MD *, (void))                                                                      \
    X(EVP_DigestInit_ex, int, (EVP_MD_CTX *, const EVP_MD *, void *))                                          \
    X(EVP_DigestUpdate, int, (EVP_MD_CTX *, const void *, size_t))                                             \
    X(EVP_DigestFinal_ex, int, (EVP_MD_CTX *, unsigned char *, unsigned int *))                                \
    X(SSL_CTX_set_cert_verify_callback, void, (SSL_CTX *, verify_callback *, void *))                          \
    X(SSL_CTX_set_ex_data, int, (SSL_CTX *, int, void *))                                                      \
    X(SSL_CTX_get_verify_mode, int, (const SSL_CTX *))                                                         \
    X(SSL_CTX_get_cert_store, X509_STORE *, (const SSL_CTX *))                                                 \
    X(SSL_CTX_get_ciphers, OPENSSL_STACK *, (const SSL_CTX *))                                                 \
    X(SSL_CTX_set_cipher_list, int, (SSL_CTX *, const char *))                                                 \
    X(SSL_CTX_set_ciphersuites, int, (SSL_CTX *, const char *))                                                \
    X(SSL_CIPHER_get_name, const char *, (const SSL_CIPHER *))                                                 \
    X(SSL_get_ex_data_X509_STORE_CTX_idx, int, (void))                                                         \
    X(SSL_get_servername, const char *, (const SSL *, int))                                                    \
    X(SSL_get0_alpn_selected, void, (const SSL *, const unsigned char **, unsigned *))                         \
    X(SSL_set_msg_callback, void, (SSL *, message_callback *))                                                 \
    X(SSL_set_ex_data, int, (SSL *, int, void *))                                                              \
    X(SSL_get_ex_data, void *, (const SSL *, int))                                                             \
    X(d2i_X509, X509 *, (X509 **, const unsigned char **, long))                                               \
    X(i2d_X509, int, (const X509 *, unsigned char **))                                                         \
    X(X509_free, void, (X509 *))                                                                               \
    X(X509_check_host, int, (X509 *, const char *, size_t, unsigned int, char **))                             \
    X(X509_check_ip_asc, int, (X509 *, const char *, unsigned int))                                            \
    X(X509_verify_cert, int, (X509_STORE_CTX *))                                                               \
    X(X509_verify_cert_error_string, const char *, (long))                                                     \
    X(X509_STORE_new, X509_STORE *, (void))                                                                    \
    X(X509_STORE_free, void, (X509_STORE *))                                                                   \
    X(X509_STORE_add_cert, int, (X509_STORE *, X509 *))                                                        \
    X(X509_STORE_load_path, int, (X509_STORE *, const char *))                                                 \
    X(X509_STORE_CTX_new, X509_STORE_CTX *, (void))                                                            \
    X(X509_STORE_CTX_free, void, (X509_STORE_CTX *))                                                           \
    X(X509_STORE_CTX_init, int, (X509_STORE_CTX *, X509_STORE *, X509 *, OPENSSL_STACK *))                     \
    X(X509_STORE_CTX_set_default, int, (X509_STORE_CTX *, const char *))                                       \
    X(X509_STORE_CTX_get0_param, X509_VERIFY_PARAM *, (const X509_STORE_CTX *))                                \
    X(X509_VERIFY_PARAM_set_flags, int, (X509_VERIFY_PARAM *, unsigned long))                                  \
    X(X509_VERIFY_PARAM_get_auth_level, int, (const X509_VERIFY_PARAM *))                                      \
    X(X509_VERIFY_PARAM_set_auth_level, void, (X509_VERIFY_PARAM *, int))                                      \
    X(X509_STORE_CTX_get_ex_data, void *, (const X509_STORE_CTX *, int))                                       \
    X(X509_STORE_CTX_get0_cert, X509 *, (const X509_STORE_CTX *))                                              \
    X(X509_STORE_CTX_get0_untrusted, OPENSSL_STACK *, (const X509_STORE_CTX *))                                \
    X(X509_STORE_CTX_get0_chain, OPENSSL_STACK *, (const X509_STORE_CTX *))                                    \
    X(X509_STORE_CTX_get1_chain, OPENSSL_STACK *, (const X509_STORE_CTX *))                                    \
    X(X509_STORE_CTX_get_error, int, (const X509_STORE_CTX *))                                                 \
    X(X509_STORE_CTX_set_error, void, (X509_STORE_CTX *, int))                                                 \
    X(X509_STORE_CTX_get_error_depth, int, (const X509_STORE_CTX *))

#define MEMBER(name, type, arguments) type(*name) arguments;
static struct {
    FUNCTIONS(MEMBER)
} lib;
#define NAME(name, type, arguments) #name "\0"

// The reason of this thread's last failure.
static _Thread_local cloader_message message;
static int release_index, ending_index;

struct owner {
    void (*release)(void *user);
    void *user;
};

static void free_owner(void *parent, void *pointer, void *data, int index, long argl, void *argp) {
    (void)parent, (void)data, (void)index, (void)argl, (void)argp;
    struct owner *owner = pointer;
    if (!owner) return;
    owner->release(owner->user);
    free(owner);
}

// One reference belongs to the SSL, and one to each caller of copenssl_watch_ending.
struct copenssl_ending {
    atomic_int references;
    atomic_bool is_notified;
};

void copenssl_ending_release(copenssl_ending *ending) {
    if (ending && atomic_fetch_sub(&ending->references, 1) == 1) free(ending);
}

static void free_ending(void *parent, void *pointer, void *data, int index, long argl, void *argp) {
    (void)parent, (void)data, (void)index, (void)argl, (void)argp;
    copenssl_ending_release(pointer);
}

static int failed(const char *sentence, const char *name) {
    snprintf(message.text, sizeof message.text, sentence, name);
    return -1;
}

static int load(void) {
    // dlsym(3) searches libcurl and then the libraries that it was linked with, and so finds the functions
    // that libcurl calls.
    void *handle = dlopen("libcurl.so.4", RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
    if (!handle) return failed("%s is not loaded", "libcurl.so.4");
    unsigned (*version_major)(void) = (unsigned (*)(void))dlsym(handle, "OPENSSL_version_major");
    if (!version_major || version_major() < 3) return failed("libcurl's TLS library is not %s", "OpenSSL 3 or newer");
    const char *missing = cloader_find(handle, FUNCTIONS(NAME), &lib);
    if (missing) return failed("libcurl's TLS library has no %s", missing);
    release_index = lib.CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, 0, 0, 0, free_owner);
    ending_index = lib.CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL, 0, 0, 0, 0, free_ending);
    return release_index < 0 || ending_index < 0 ? failed("OpenSSL has no room for another %s", "index") : 0;
}

bool copenssl_load(void) {
    static cloader_state state = CLOADER_UNLOADED;
    return cloader_run(&state, load) == 0;
}

const char *copenssl_load_message(void) { return message.text; }

static X509_STORE_CTX *store(copenssl_verification *verification) { return (X509_STORE_CTX *)verification; }
static OPENSSL_STACK *stack(copenssl_chain *chain) { return (OPENSSL_STACK *)chain; }

bool copenssl_install(
    void *context, copenssl_verify_function verify, void *user, void (*release)(void *user)) {
    // Without this bit OpenSSL ignores the callback's result.
    if (!(lib.SSL_CTX_get_verify_mode(context) & SSL_VERIFY_PEER)) return false;
    struct owner *owner = malloc(sizeof *owner);
    if (!owner) return false;
    *owner = (struct owner){release, user};
    if (!lib.SSL_CTX_set_ex_data(context, release_index, owner)) {
        free(owner);
        return false;
    }
    lib.SSL_CTX_set_cert_verify_callback(context, (verify_callback *)verify, user);
    return true;
}

bool copenssl_add_directory(void *context, const char *path) {
    if (lib.X509_STORE_load_path(lib.SSL_CTX_get_cert_store(context), path) == 1) return true;
    lib.ERR_clear_error();
    return false;
}

const char *copenssl_cipher(void *context, int index) {
    const OPENSSL_STACK *ciphers = lib.SSL_CTX_get_ciphers(context);
    if (!ciphers || index >= lib.OPENSSL_sk_num(ciphers)) return 0;
    return lib.SSL_CIPHER_get_name(lib.OPENSSL_sk_value(ciphers, index));
}

bool copenssl_set_ciphers(void *context, const char *names) {
    if (lib.SSL_CTX_set_ciphersuites(context, names) == 1) return true;
    lib.ERR_clear_error();
    return false;
}

bool copenssl_set_earlier_ciphers(void *context, const char *names) {
    if (lib.SSL_CTX_set_cipher_list(context, names) == 1) return true;
    lib.ERR_clear_error();
    return false;
}

// OpenSSL's own conditions (crypto/cpuid.c, crypto/armcap.c, crypto/ppccap.c): AES, and the product of
// polynomials that GCM needs.
bool copenssl_has_aes(void) {
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_AES) && (c & bit_PCLMUL);
#elif defined(__aarch64__)
    unsigned long both = 1UL << 3 | 1UL << 4;  // HWCAP_AES, HWCAP_PMULL
    return (getauxval(AT_HWCAP) & both) == both;
#elif defined(__arm__)
    unsigned long both = 1UL << 0 | 1UL << 1;  // HWCAP2_AES, HWCAP2_PMULL
    return (getauxval(AT_HWCAP2) & both) == both;
#elif defined(__powerpc64__)
    return getauxval(AT_HWCAP2) & 0x02000000;  // PPC_FEATURE2_VEC_CRYPTO
#else
    return false;
#endif
}

// SSL_CTX_set_msg_callback(3): called with each alert, as it was sent.
static void message_came(int is_sent, int version, int type, const void *bytes, size_t count, SSL *ssl, void *argument) {
    (void)version, (void)argument;
    if (is_sent || type != SSL3_RT_ALERT || count != 2 || ((const uint8_t *)bytes)[1] != SSL_AD_CLOSE_NOTIFY) return;
    copenssl_ending *ending = lib.SSL_get_ex_data(ssl, ending_index);
    if (ending) atomic_store(&ending->is_notified, true);
}

bool copenssl_speaks_http2(void *session) {
    const unsigned char *name = 0;
    unsigned count = 0;
    lib.SSL_get0_alpn_selected(session, &name, &count);
    return count == 2 && !memcmp(name, "h2", 2);
}

copenssl_ending *copenssl_watch_ending(void *session) {
    copenssl_ending *ending = lib.SSL_get_ex_data(session, ending_index);
    if (!ending) {
        ending = calloc(1, sizeof *ending);
        if (!ending) return 0;
        atomic_store(&ending->references, 1);
        if (!lib.SSL_set_ex_data(session, ending_index, ending)) {
            free(ending);
            lib.ERR_clear_error();
            return 0;
        }
        lib.SSL_set_msg_callback(session, message_came);
    }
    atomic_fetch_add(&ending->references, 1);
    return ending;
}
bool copenssl_ending_is_notified(copenssl_ending *ending) { return atomic_load(&ending->is_notified); }

// A failed verification leaves entries in the thread's error queue, which SSL_get_error would take for its
// own.
static int run(X509_STORE_CTX *context) {
    int ok = lib.X509_verify_cert(context);
    lib.ERR_clear_error();
    if (ok == 1) return 0;
    int error = lib.X509_STORE_CTX_get_error(context);
    return error ? error : X509_V_ERR_UNSPECIFIED;
}

int copenssl_verify(copenssl_verification *verification) { return run(store(verification)); }
int copenssl_depth(copenssl_verification *verification) {
    return lib.X509_STORE_CTX_get_error_depth(store(verification));
}
void copenssl_set_result(copenssl_verification *verification, int error) {
    lib.X509_STORE_CTX_set_error(store(verification), error);
}

const char *copenssl_server_name(copenssl_verification *verification) {
    SSL *ssl = lib.X509_STORE_CTX_get_ex_data(store(verification), lib.SSL_get_ex_data_X509_STORE_CTX_idx());
    return ssl ? lib.SSL_get_servername(ssl, NAMETYPE_HOST_NAME) : 0;
}
bool copenssl_matches_name(copenssl_verification *verification, const char *name) {
    X509 *leaf = lib.X509_STORE_CTX_get0_cert(store(verification));
    return leaf && *name && lib.X509_check_host(leaf, name, 0, 0, 0) == 1;
}
bool copenssl_matches_address(copenssl_verification *verification, const char *address) {
    X509 *leaf = lib.X509_STORE_CTX_get0_cert(store(verification));
    return leaf && lib.X509_check_ip_asc(leaf, address, 0) == 1;
}

copenssl_chain *copenssl_presented(copenssl_verification *verification) {
    return (copenssl_chain *)lib.X509_STORE_CTX_get0_untrusted(store(verification));
}
copenssl_chain *copenssl_built(copenssl_verification *verification) {
    return (copenssl_chain *)lib.X509_STORE_CTX_get0_chain(store(verification));
}
int copenssl_chain_count(copenssl_chain *chain) {
    int count = chain ? lib.OPENSSL_sk_num(stack(chain)) : 0;
    return count < 0 ? 0 : count;
}
uint8_t *copenssl_chain_der(copenssl_chain *chain, int index, int *count) {
    unsigned char *der = 0;
    X509 *certificate = chain ? lib.OPENSSL_sk_value(stack(chain), index) : 0;
    *count = certificate ? lib.i2d_X509(certificate, &der) : 0;
    if (*count < 0) *count = 0;
    return der;
}
void copenssl_free(void *memory) { lib.CRYPTO_free(memory, __FILE__, __LINE__); }

copenssl_anchors *copenssl_anchors_new(void) { return (copenssl_anchors *)lib.X509_STORE_new(); }
void copenssl_anchors_free(copenssl_anchors *anchors) { lib.X509_STORE_free((X509_STORE *)anchors); }
bool copenssl_anchors_add(copenssl_anchors *anchors, const uint8_t *der, size_t count) {
    if (count > LONG_MAX) return false;
    const unsigned char *position = der;
    X509 *certificate = lib.d2i_X509(0, &position, (long)count);
    bool added = certificate && lib.X509_STORE_add_cert((X509_STORE *)anchors, certificate) == 1;
    lib.X509_free(certificate);
    lib.ERR_clear_error();
    return added;
}

int copenssl_verify_against(
    copenssl_verification *verification, copenssl_anchors *anchors, bool strict, copenssl_chain **found, int *depth) {
    X509_STORE_CTX *outer = store(verification), *context = lib.X509_STORE_CTX_new();
    X509 *leaf = lib.X509_STORE_CTX_get0_cert(outer);
    int error = X509_V_ERR_OUT_OF_MEM;
    if (found) *found = 0;
    if (depth) *depth = 0;
    if (context && leaf
        && lib.X509_STORE_CTX_init(
            context, (X509_STORE *)anchors, leaf, lib.X509_STORE_CTX_get0_untrusted(outer))
        && (!strict || lib.X509_STORE_CTX_set_default(context, "ssl_server"))) {
        unsigned long flags = X509_V_FLAG_PARTIAL_CHAIN | (strict ? 0 : X509_V_FLAG_NO_CHECK_TIME);
        X509_VERIFY_PARAM *parameters = lib.X509_STORE_CTX_get0_param(context);
        lib.X509_VERIFY_PARAM_set_flags(parameters, flags);
        // The handshake's security level also holds here: a signature that can be forged proves nothing.
        int level = lib.X509_VERIFY_PARAM_get_auth_level(lib.X509_STORE_CTX_get0_param(outer));
        lib.X509_VERIFY_PARAM_set_auth_level(parameters, level);
        error = run(context);
        if (found) *found = (copenssl_chain *)lib.X509_STORE_CTX_get1_chain(context);
        if (depth) *depth = lib.X509_STORE_CTX_get_error_depth(context);
    }
    lib.X509_STORE_CTX_free(context);
    lib.ERR_clear_error();
    return error;
}
void copenssl_chain_free(copenssl_chain *chain) {
    lib.OPENSSL_sk_pop_free(stack(chain), (void (*)(void *))lib.X509_free);
}

bool copenssl_sha256(const void *bytes, size_t count, uint8_t *hash) { return lib.SHA256(bytes, count, hash) != 0; }

static EVP_MD_CTX *digest(copenssl_hash *hash) { return (EVP_MD_CTX *)hash; }

copenssl_hash *copenssl_hash_new(void) {
    EVP_MD_CTX *context = lib.EVP_MD_CTX_new();
    if (context && lib.EVP_DigestInit_ex(context, lib.EVP_sha256(), 0) == 1) return (copenssl_hash *)context;
    lib.EVP_MD_CTX_free(context);
    lib.ERR_clear_error();
    return 0;
}
bool copenssl_hash_update(copenssl_hash *hash, const void *bytes, size_t count) {
    return lib.EVP_DigestUpdate(digest(hash), bytes, count) == 1;
}
bool copenssl_hash_finish(copenssl_hash *hash, uint8_t *result) {
    return lib.EVP_DigestFinal_ex(digest(hash), result, 0) == 1;
}
void copenssl_hash_free(copenssl_hash *hash) { lib.EVP_MD_CTX_free(digest(hash)); }

const char *copenssl_result_text(int error) { return lib.X509_verify_cert_error_string(error); }
