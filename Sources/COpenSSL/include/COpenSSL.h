// SPDX-License-Identifier: Apache-2.0
//
// The functions of OpenSSL with which a program takes part when libcurl verifies a server. Found in the
// library that libcurl uses: an SSL_CTX of one library must not reach the functions of another. All but
// copenssl_load need it to have succeeded before. Only copenssl_install stores a pointer that Swift passes.
#ifndef REACH_COPENSSL_H
#define REACH_COPENSSL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Finds the functions below libcurl.so.4, which has to be loaded and to report that it uses OpenSSL; tried
// again until it succeeds. False if libcurl is not loaded, or has another TLS library, an OpenSSL before 3.0,
// or parts of it built in and hidden. From any thread.
bool copenssl_load(void);
// The reason of this thread's last failure.
const char *_Nonnull copenssl_load_message(void);

// A verification under way (X509_STORE_CTX), valid while the callback runs.
typedef struct copenssl_verification copenssl_verification;

// 1 accepts the server, 0 refuses it. Called for each full handshake, instead of OpenSSL's own verification.
typedef int (*copenssl_verify_function)(copenssl_verification *_Nonnull verification, void *_Nonnull user);

// Takes over the verification of every handshake of an SSL_CTX. `user` has to stay valid until `release` is
// called with it, which happens when OpenSSL frees the SSL_CTX: a server may request another handshake long
// after the first. False, without a call of `release`, if the SSL_CTX would ignore the result or memory is
// short.
bool copenssl_install(
    void *_Nonnull context, copenssl_verify_function _Nonnull verify, void *_Nonnull user,
    void (*_Nonnull release)(void *_Nullable user));

// Adds a directory with hashed names in which an SSL_CTX looks for anchors on demand; once for its store,
// however often it is called (X509_LOOKUP_hash_dir(3)). False without memory.
bool copenssl_add_directory(void *_Nonnull context, const char *_Nonnull path);

// The name of the cipher at `index` of those that an SSL_CTX offers, first those of TLS 1.3; null after the
// last. Valid as long as the library is loaded.
const char *_Nullable copenssl_cipher(void *_Nonnull context, int index);
// Replaces the ciphers of TLS 1.3, and those of the versions before; `names` have colons between them. False
// if OpenSSL takes none of them, which leaves the ciphers as they were.
bool copenssl_set_ciphers(void *_Nonnull context, const char *_Nonnull names);
bool copenssl_set_earlier_ciphers(void *_Nonnull context, const char *_Nonnull names);
// Whether the processor has instructions with which OpenSSL computes AES-GCM. Needs no copenssl_load.
bool copenssl_has_aes(void);

// Whether the peers of a connection have agreed on HTTP/2 (ALPN, RFC 9113 §3.2). `session` is an `SSL *`
// whose handshake is done.
bool copenssl_speaks_http2(void *_Nonnull session);

// How a connection ends: whether the peer sent the alert `close_notify` (RFC 8446 §6.1), or just closed the
// connection, which libcurl does not distinguish. `session` is an `SSL *`; null without memory. The caller
// releases the result, which may outlive the connection.
typedef struct copenssl_ending copenssl_ending;
copenssl_ending *_Nullable copenssl_watch_ending(void *_Nonnull session);
bool copenssl_ending_is_notified(copenssl_ending *_Nonnull ending);
void copenssl_ending_release(copenssl_ending *_Nullable ending);

// OpenSSL's own verification with the anchors that libcurl has configured: 0, or a number of
// X509_STORE_CTX_get_error(3).
int copenssl_verify(copenssl_verification *_Nonnull verification);
// The index of the certificate at which the last copenssl_verify ended.
int copenssl_depth(copenssl_verification *_Nonnull verification);
// Sets the reported result of a handshake: 0, or the number of an error.
void copenssl_set_result(copenssl_verification *_Nonnull verification, int result);

// The name that the client sent (SNI); null for addresses. Valid while the callback runs.
const char *_Nullable copenssl_server_name(copenssl_verification *_Nonnull verification);
bool copenssl_matches_name(copenssl_verification *_Nonnull verification, const char *_Nonnull name);
bool copenssl_matches_address(copenssl_verification *_Nonnull verification, const char *_Nonnull address);

// Certificates, leaf first: those that the server sent, and the chain of the last verification.
typedef struct copenssl_chain copenssl_chain;
copenssl_chain *_Nullable copenssl_presented(copenssl_verification *_Nonnull verification);
copenssl_chain *_Nullable copenssl_built(copenssl_verification *_Nonnull verification);
int copenssl_chain_count(copenssl_chain *_Nullable chain);
// A certificate in DER, or null; freed by copenssl_free. `count` is the number of bytes.
uint8_t *_Nullable copenssl_chain_der(copenssl_chain *_Nullable chain, int index, int *_Nonnull count);
void copenssl_free(void *_Nullable memory);

// Certificates of which any may end a chain, whatever its issuer.
typedef struct copenssl_anchors copenssl_anchors;
copenssl_anchors *_Nullable copenssl_anchors_new(void);
void copenssl_anchors_free(copenssl_anchors *_Nullable anchors);
// False for bytes that are no certificate.
bool copenssl_anchors_add(copenssl_anchors *_Nonnull anchors, const uint8_t *_Nonnull der, size_t count);

// Verifies the server's certificate against other anchors: 0, or a number of X509_STORE_CTX_get_error(3).
// Without `strict` neither time nor purpose counts, only signatures and the right to sign. `found`, if not
// null, gets the chain, freed by copenssl_chain_free, and `depth` the index at which it ended.
int copenssl_verify_against(
    copenssl_verification *_Nonnull verification, copenssl_anchors *_Nonnull anchors, bool strict,
    copenssl_chain *_Nullable *_Nullable found, int *_Nullable depth);
void copenssl_chain_free(copenssl_chain *_Nullable chain);

// Writes 32 bytes into `hash`; false on failure.
bool copenssl_sha256(const void *_Nonnull bytes, size_t count, uint8_t *_Nonnull hash);

// The SHA-256 of content that comes in pieces.
typedef struct copenssl_hash copenssl_hash;
// Null without memory, or if a provider such as FIPS has no SHA-256.
copenssl_hash *_Nullable copenssl_hash_new(void);
bool copenssl_hash_update(copenssl_hash *_Nonnull hash, const void *_Nullable bytes, size_t count);
// Writes 32 bytes; only copenssl_hash_free may follow.
bool copenssl_hash_finish(copenssl_hash *_Nonnull hash, uint8_t *_Nonnull result);
void copenssl_hash_free(copenssl_hash *_Nullable hash);

const char *_Nonnull copenssl_result_text(int result);

#endif
