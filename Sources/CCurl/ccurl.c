// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CCurl.h"
#include "CLoader.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

CLOADER_NOTE(dlopen_note, "http", "HTTP transfers", "recommended", "libcurl.so.4")

#define FUNCTIONS(X)                                                                                               \
    X(curl_global_init_mem) X(curl_version_info) X(curl_easy_init) X(curl_easy_cleanup)                            \
    X(curl_easy_setopt) X(curl_easy_getinfo) X(curl_easy_pause) X(curl_easy_strerror) X(curl_slist_append)         \
    X(curl_easy_send) X(curl_easy_recv)                                                                                \
    X(curl_slist_free_all) X(curl_multi_init) X(curl_multi_cleanup) X(curl_multi_setopt) X(curl_multi_add_handle)  \
    X(curl_multi_remove_handle) X(curl_multi_socket_action) X(curl_multi_info_read) X(curl_multi_strerror)         \
    X(curl_share_init) X(curl_share_setopt) X(curl_share_cleanup)                                                  \
    X(curl_url) X(curl_url_set) X(curl_url_cleanup)

// curl.h checks the variadic functions by macros of the same names.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
#undef curl_share_setopt

#define MEMBER(name) __typeof__(&name) name;
static struct {
    FUNCTIONS(MEMBER)
} lib;
#define NAME(name) #name "\0"

static _Thread_local cloader_message message;

// Where the address space is limited (RLIMIT_AS), libraries below libcurl end the process while they are
// loaded: the constructors of GnuTLS and others do not expect refused memory. libcurl 7.88 with all of them
// takes 17 MiB on amd64; the rest is for TLS and for the thread of name lookups.
enum { NEEDED_SPACE = 44 << 20 };

static bool has_space(void) {
    void *space = mmap(NULL, NEEDED_SPACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) return false;
    munmap(space, NEEDED_SPACE);
    return true;
}

_Static_assert((int)CCURL_NO_MEMORY == (int)CLOADER_NO_MEMORY, "results of cloader_open are passed on");

static int load(void) {
    if (!has_space()) {
        snprintf(message.text, sizeof message.text, "it needs %d MiB of address space: %s", NEEDED_SPACE >> 20,
                 strerror(ENOMEM));
        return CCURL_NO_SPACE;
    }
    // Never closed: libcurl and the libraries below it leave handlers and threads' data behind.
    cloader_result result = cloader_open("libcurl.so.4", FUNCTIONS(NAME), &lib, &message);
    if (result != CLOADER_LOADED) return result;
    const curl_version_info_data *version = lib.curl_version_info(CURLVERSION_NOW);
    if (version->version_num < CCURL_MINIMUM_VERSION) {
        snprintf(message.text, sizeof message.text, "libcurl %s is older than 7.88", version->version);
        return CCURL_TOO_OLD;
    }
    // A libcurl with OpenSSL: before its first use OpenSSL has to learn that nothing is torn down at exit(3),
    // since a loop's thread may still be in it (OPENSSL_INIT_NO_ATEXIT, OPENSSL_init_crypto(3)).
    void *handle = dlopen("libcurl.so.4", RTLD_NOLOAD | RTLD_NOW | RTLD_LOCAL);
    int (*init_openssl)(uint64_t, const void *) =
        handle ? (int (*)(uint64_t, const void *))dlsym(handle, "OPENSSL_init_crypto") : NULL;
    if (init_openssl) init_openssl(0x00080000, NULL);
    CURLcode code = lib.curl_global_init_mem(CURL_GLOBAL_DEFAULT, ccurl_malloc, ccurl_free, realloc, strdup, ccurl_calloc);
    if (code != CURLE_OK) {
        snprintf(message.text, sizeof message.text, "curl_global_init_mem: %s", lib.curl_easy_strerror(code));
        return CCURL_INIT_FAILED;
    }
    return CCURL_LOADED;
}

ccurl_load_result ccurl_load(void) {
    static cloader_state state = CLOADER_UNLOADED;
    return cloader_run(&state, load);
}

const char *ccurl_load_message(void) { return message.text; }
const curl_version_info_data *ccurl_version(void) { return lib.curl_version_info(CURLVERSION_NOW); }

CURL *ccurl_easy_init(void) { return lib.curl_easy_init(); }
void ccurl_easy_cleanup(CURL *easy) { lib.curl_easy_cleanup(easy); }
CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return lib.curl_easy_setopt(easy, option, value);
}
CURLcode ccurl_set_offset(CURL *easy, CURLoption option, int64_t value) {
    return lib.curl_easy_setopt(easy, option, (curl_off_t)value);
}
CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return lib.curl_easy_setopt(easy, option, value);
}
CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
    return lib.curl_easy_setopt(easy, option, value);
}
CURLcode ccurl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    if (!bytes) return lib.curl_easy_setopt(easy, option, (struct curl_blob *)0);
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return lib.curl_easy_setopt(easy, option, &blob);
}
CURLcode ccurl_easy_pause(CURL *easy, int mask) { return lib.curl_easy_pause(easy, mask); }
CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) { return lib.curl_easy_getinfo(easy, info, value); }
CURLcode ccurl_get_socket(CURL *easy, CURLINFO info, curl_socket_t *value) { return lib.curl_easy_getinfo(easy, info, value); }
CURLcode ccurl_get_offset(CURL *easy, CURLINFO info, int64_t *value) {
    curl_off_t offset = 0;
    CURLcode code = lib.curl_easy_getinfo(easy, info, &offset);
    *value = offset;
    return code;
}
CURLcode ccurl_get_string(CURL *easy, CURLINFO info, const char **value) {
    return lib.curl_easy_getinfo(easy, info, value);
}
CURLcode ccurl_get_list(CURL *easy, CURLINFO info, struct curl_slist **value) {
    return lib.curl_easy_getinfo(easy, info, value);
}
CURLcode ccurl_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return lib.curl_easy_getinfo(easy, info, value);
}
void *ccurl_openssl_session(CURL *easy) {
    const struct curl_tlssessioninfo *session = 0;
    if (lib.curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return 0;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : 0;
}
ccurl_figures ccurl_get_figures(CURL *easy) {
    ccurl_figures figures = {0};
#define READ(info, member) lib.curl_easy_getinfo(easy, info, &figures.member)
    READ(CURLINFO_NAMELOOKUP_TIME_T, name_lookup);
    READ(CURLINFO_CONNECT_TIME_T, connect);
    READ(CURLINFO_APPCONNECT_TIME_T, tls);
    READ(CURLINFO_PRETRANSFER_TIME_T, request_start);
    READ(CURLINFO_STARTTRANSFER_TIME_T, first_byte);
    READ(CURLINFO_TOTAL_TIME_T, total);
    READ(CURLINFO_SIZE_UPLOAD_T, uploaded);
    READ(CURLINFO_SIZE_DOWNLOAD_T, downloaded);
    READ(CURLINFO_HEADER_SIZE, header_bytes);
    READ(CURLINFO_NUM_CONNECTS, connects);
    READ(CURLINFO_PRIMARY_IP, remote);
    READ(CURLINFO_PRIMARY_PORT, remote_port);
    READ(CURLINFO_LOCAL_IP, local);
    READ(CURLINFO_LOCAL_PORT, local_port);
#undef READ
    return figures;
}
CURLcode ccurl_easy_send(CURL *easy, const void *bytes, size_t count, size_t *sent) {
    *sent = 0;
    return lib.curl_easy_send(easy, bytes, count, sent);
}
CURLcode ccurl_easy_recv(CURL *easy, void *buffer, size_t count, size_t *received) {
    *received = 0;
    return lib.curl_easy_recv(easy, buffer, count, received);
}
const char *ccurl_easy_text(CURLcode code) { return lib.curl_easy_strerror(code); }

CURLcode ccurl_set_data_function(CURL *easy, CURLoption option, ccurl_data_function function) {
    return lib.curl_easy_setopt(easy, option, function);
}
CURLcode ccurl_set_seek_function(CURL *easy, ccurl_seek_function function) {
    return lib.curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
}
CURLcode ccurl_set_before_function(CURL *easy, ccurl_before_function function) {
    return lib.curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}
CURLcode ccurl_set_open_function(CURL *easy, ccurl_open_function function) {
    return lib.curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}
CURLcode ccurl_set_close_function(CURL *easy, ccurl_close_function function) {
    return lib.curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
}
CURLcode ccurl_set_tls_function(CURL *easy, ccurl_tls_function function) {
    return lib.curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, function);
}

CURLU *ccurl_url_make(const char *text) {
    CURLU *url = lib.curl_url();
    // The flags with which libcurl parses CURLOPT_URL (url.c).
    unsigned flags = CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME;
    if (!url || lib.curl_url_set(url, CURLUPART_URL, text, flags) == CURLUE_OK) return url;
    lib.curl_url_cleanup(url);
    return 0;
}
void ccurl_url_free(CURLU *url) {
    if (url) lib.curl_url_cleanup(url);
}

struct curl_slist *ccurl_list_append(struct curl_slist *list, const char *text) {
    return lib.curl_slist_append(list, text);
}
void ccurl_list_free(struct curl_slist *list) { lib.curl_slist_free_all(list); }

CURLM *ccurl_multi_init(void) { return lib.curl_multi_init(); }
CURLMcode ccurl_multi_cleanup(CURLM *multi) { return lib.curl_multi_cleanup(multi); }
CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return lib.curl_multi_setopt(multi, option, value);
}
CURLMcode ccurl_multi_set_callbacks(
    CURLM *multi, ccurl_socket_function socket, ccurl_timer_function timer, void *user) {
    lib.curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, user);
    lib.curl_multi_setopt(multi, CURLMOPT_TIMERDATA, user);
    CURLMcode code = lib.curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    return code ? code : lib.curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
}
CURLMcode ccurl_multi_add(CURLM *multi, CURL *easy) { return lib.curl_multi_add_handle(multi, easy); }
CURLMcode ccurl_multi_remove(CURLM *multi, CURL *easy) { return lib.curl_multi_remove_handle(multi, easy); }
CURLMcode ccurl_multi_action(CURLM *multi, curl_socket_t socket, int events, int *running) {
    return lib.curl_multi_socket_action(multi, socket, events, running);
}
CURL *ccurl_multi_next_done(CURLM *multi, CURLcode *code) {
    int left;
    CURLMsg *done;
    while ((done = lib.curl_multi_info_read(multi, &left))) {
        if (done->msg != CURLMSG_DONE) continue;
        *code = done->data.result;
        return done->easy_handle;
    }
    return 0;
}
const char *ccurl_multi_text(CURLMcode code) { return lib.curl_multi_strerror(code); }

CURLSH *ccurl_share_init(void) { return lib.curl_share_init(); }
CURLSHcode ccurl_share_set(CURLSH *share, curl_lock_data what) {
    return lib.curl_share_setopt(share, CURLSHOPT_SHARE, what);
}
CURLSHcode ccurl_share_cleanup(CURLSH *share) { return lib.curl_share_cleanup(share); }
