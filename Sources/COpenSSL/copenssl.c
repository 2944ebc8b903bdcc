// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "COpenSSL.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

// OpenSSL's types stay closed, and its functions are declared here as their manual pages of 3.0 have them, so that
// building needs no headers of it. Long options and flags are 64 bits wide since 3.0, therefore nothing older.
typedef struct ssl_ctx SSL_CTX;
typedef struct ssl SSL;
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

static struct {
    unsigned int (*OPENSSL_version_major)(void);
    void (*CRYPTO_free)(void *, const char *, int);
    int (*CRYPTO_get_ex_new_index)(int, long, void *, void *, void *, free_ex_data *);
    void (*ERR_clear_error)(void);
    int (*OPENSSL_sk_num)(const OPENSSL_STACK *);
    void *(*OPENSSL_sk_value)(const OPENSSL_STACK *, int);
    void (*OPENSSL_sk_pop_free)(OPENSSL_STACK *, void (*)(void *));
    unsigned char *(*SHA256)(const unsigned char *, size_t, unsigned char *);
    EVP_MD_CTX *(*EVP_MD_CTX_new)(void);
    void (*EVP_MD_CTX_free)(EVP_MD_CTX *);
    const EVP_MD *(*EVP_sha256)(void);
    int (*EVP_DigestInit_ex)(EVP_MD_CTX *, const EVP_MD *, void *);
    int (*EVP_DigestUpdate)(EVP_MD_CTX *, const void *, size_t);
    int (*EVP_DigestFinal_ex)(EVP_MD_CTX *, unsigned char *, unsigned int *);
    void (*SSL_CTX_set_cert_verify_callback)(SSL_CTX *, verify_callback *, void *);
    int (*SSL_CTX_set_ex_data)(SSL_CTX *, int, void *);
    int (*SSL_CTX_get_verify_mode)(const SSL_CTX *);
    X509_STORE *(*SSL_CTX_get_cert_store)(const SSL_CTX *);
    int (*SSL_get_ex_data_X509_STORE_CTX_idx)(void);
    const char *(*SSL_get_servername)(const SSL *, int);
    void (*SSL_set_msg_callback)(SSL *, message_callback *);
    int (*SSL_set_ex_data)(SSL *, int, void *);
    void *(*SSL_get_ex_data)(const SSL *, int);
    X509 *(*d2i_X509)(X509 **, const unsigned char **, long);
    int (*i2d_X509)(const X509 *, unsigned char **);
    void (*X509_free)(X509 *);
    int (*X509_check_host)(X509 *, const char *, size_t, unsigned int, char **);
    int (*X509_check_ip_asc)(X509 *, const char *, unsigned int);
    int (*X509_verify_cert)(X509_STORE_CTX *);
    const char *(*X509_verify_cert_error_string)(long);
    X509_STORE *(*X509_STORE_new)(void);
    void (*X509_STORE_free)(X509_STORE *);
    int (*X509_STORE_add_cert)(X509_STORE *, X509 *);
    int (*X509_STORE_load_path)(X509_STORE *, const char *);
    X509_STORE_CTX *(*X509_STORE_CTX_new)(void);
    void (*X509_STORE_CTX_free)(X509_STORE_CTX *);
    int (*X509_STORE_CTX_init)(X509_STORE_CTX *, X509_STORE *, X509 *, OPENSSL_STACK *);
    int (*X509_STORE_CTX_set_default)(X509_STORE_CTX *, const char *);
    X509_VERIFY_PARAM *(*X509_STORE_CTX_get0_param)(const X509_STORE_CTX *);
    int (*X509_VERIFY_PARAM_set_flags)(X509_VERIFY_PARAM *, unsigned long);
    int (*X509_VERIFY_PARAM_get_auth_level)(const X509_VERIFY_PARAM *);
    void (*X509_VERIFY_PARAM_set_auth_level)(X509_VERIFY_PARAM *, int);
    void *(*X509_STORE_CTX_get_ex_data)(const X509_STORE_CTX *, int);
    X509 *(*X509_STORE_CTX_get0_cert)(const X509_STORE_CTX *);
    OPENSSL_STACK *(*X509_STORE_CTX_get0_untrusted)(const X509_STORE_CTX *);
    OPENSSL_STACK *(*X509_STORE_CTX_get0_chain)(const X509_STORE_CTX *);
    OPENSSL_STACK *(*X509_STORE_CTX_get1_chain)(const X509_STORE_CTX *);
    int (*X509_STORE_CTX_get_error)(const X509_STORE_CTX *);
    void (*X509_STORE_CTX_set_error)(X509_STORE_CTX *, int);
    int (*X509_STORE_CTX_get_error_depth)(const X509_STORE_CTX *);
} lib;

static copenssl_load_result result;
static char message[256];
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

// One reference of the SSL, and one of each who asks.
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

#define RESOLVE(name)                                                                                              \
    *(void **)&lib.name = dlsym(handle, #name);                                                                    \
    if (!lib.name) {                                                                                               \
        snprintf(message, sizeof message, "libcurl's TLS library has no " #name);                                  \
        result = COPENSSL_NOT_FOUND;                                                                               \
        return;                                                                                                    \
    }

static void load(void) {
    // dlsym searches libcurl and then the libraries that it was linked with: what it finds is what libcurl calls.
    void *handle = dlopen("libcurl.so.4", RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        snprintf(message, sizeof message, "libcurl.so.4 is not loaded");
        result = COPENSSL_NO_LIBCURL;
        return;
    }
    *(void **)&lib.OPENSSL_version_major = dlsym(handle, "OPENSSL_version_major");
    if (!lib.OPENSSL_version_major || lib.OPENSSL_version_major() < 3) {
        snprintf(message, sizeof message, "libcurl's TLS library is not OpenSSL 3 or newer");
        result = COPENSSL_TOO_OLD;
        return;
    }
    RESOLVE(CRYPTO_free)
    RESOLVE(CRYPTO_get_ex_new_index)
    RESOLVE(ERR_clear_error)
    RESOLVE(OPENSSL_sk_num)
    RESOLVE(OPENSSL_sk_value)
    RESOLVE(OPENSSL_sk_pop_free)
    RESOLVE(SHA256)
    RESOLVE(EVP_MD_CTX_new)
    RESOLVE(EVP_MD_CTX_free)
    RESOLVE(EVP_sha256)
    RESOLVE(EVP_DigestInit_ex)
    RESOLVE(EVP_DigestUpdate)
    RESOLVE(EVP_DigestFinal_ex)
    RESOLVE(SSL_CTX_set_cert_verify_callback)
    RESOLVE(SSL_CTX_set_ex_data)
    RESOLVE(SSL_CTX_get_verify_mode)
    RESOLVE(SSL_CTX_get_cert_store)
    RESOLVE(SSL_get_ex_data_X509_STORE_CTX_idx)
    RESOLVE(SSL_get_servername)
    RESOLVE(SSL_set_msg_callback)
    RESOLVE(SSL_set_ex_data)
    RESOLVE(SSL_get_ex_data)
    RESOLVE(d2i_X509)
    RESOLVE(i2d_X509)
    RESOLVE(X509_free)
    RESOLVE(X509_check_host)
    RESOLVE(X509_check_ip_asc)
    RESOLVE(X509_verify_cert)
    RESOLVE(X509_verify_cert_error_string)
    RESOLVE(X509_STORE_new)
    RESOLVE(X509_STORE_free)
    RESOLVE(X509_STORE_add_cert)
    RESOLVE(X509_STORE_load_path)
    RESOLVE(X509_STORE_CTX_new)
    RESOLVE(X509_STORE_CTX_free)
    RESOLVE(X509_STORE_CTX_init)
    RESOLVE(X509_STORE_CTX_set_default)
    RESOLVE(X509_STORE_CTX_get0_param)
    RESOLVE(X509_VERIFY_PARAM_set_flags)
    RESOLVE(X509_VERIFY_PARAM_get_auth_level)
    RESOLVE(X509_VERIFY_PARAM_set_auth_level)
    RESOLVE(X509_STORE_CTX_get_ex_data)
    RESOLVE(X509_STORE_CTX_get0_cert)
    RESOLVE(X509_STORE_CTX_get0_untrusted)
    RESOLVE(X509_STORE_CTX_get0_chain)
    RESOLVE(X509_STORE_CTX_get1_chain)
    RESOLVE(X509_STORE_CTX_get_error)
    RESOLVE(X509_STORE_CTX_set_error)
    RESOLVE(X509_STORE_CTX_get_error_depth)
    release_index = lib.CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, 0, 0, 0, free_owner);
    ending_index = lib.CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL, 0, 0, 0, 0, free_ending);
    if (release_index < 0 || ending_index < 0) {
        snprintf(message, sizeof message, "OpenSSL has no room for another index");
        result = COPENSSL_NOT_FOUND;
    }
}

copenssl_load_result copenssl_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return result;
}

const char *copenssl_load_message(void) { return message; }

static X509_STORE_CTX *store(copenssl_verification *verification) { return (X509_STORE_CTX *)verification; }
static OPENSSL_STACK *stack(copenssl_chain *chain) { return (OPENSSL_STACK *)chain; }

bool copenssl_install(
    void *context, copenssl_verify_function verify, void *user, void (*release)(void *user)) {
    // Without this bit OpenSSL calls the function and goes on whatever it says.
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

// SSL_CTX_set_msg_callback(3): called with each alert that comes, as it was sent.
static void message_came(int is_sent, int version, int type, const void *bytes, size_t count, SSL *ssl, void *argument) {
    (void)version, (void)argument;
    if (is_sent || type != SSL3_RT_ALERT || count != 2 || ((const uint8_t *)bytes)[1] != SSL_AD_CLOSE_NOTIFY) return;
    copenssl_ending *ending = lib.SSL_get_ex_data(ssl, ending_index);
    if (ending) atomic_store(&ending->is_notified, true);
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

// A failed verification leaves entries in the thread's queue of errors, which SSL_get_error would take for its own.
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
        // Keys and hashes as strong as the handshake wants them: a signature that can be forged links nothing.
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
