// SPDX-License-Identifier: Apache-2.0
//
// libcurl for Swift: typed wrappers of its variadic functions, macros as constants, and the library itself
// opened at run time. Only the calls declared here exist; all but ccurl_load and those about memory need a
// successful ccurl_load before.
#ifndef REACH_CCURL_H
#define REACH_CCURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The oldest supported libcurl: 7.88.0.
enum { CCURL_MINIMUM_VERSION = 0x075800 };
// The first libcurl whose bodies over HTTP/2 arrive as they were sent, also if the connection's send buffer
// is full: 8.2.0.
enum { CCURL_HTTP2_BODIES_VERSION = 0x080200 };

// The first six are those of cloader_result.
typedef enum {
    CCURL_LOADED,
    CCURL_NOT_FOUND,
    CCURL_SYMBOL_MISSING,
    CCURL_TOO_OLD,
    CCURL_NO_RESOURCES,  // the library may exist: descriptors were short
    CCURL_NO_MEMORY,     // the library exists: memory or address space was short
    CCURL_INIT_FAILED,  // curl_global_init failed
    CCURL_NO_SPACE,     // the address space is limited to less than libcurl needs
} ccurl_load_result;

// Opens and initialises libcurl, once for the process, and again after a failure. From any thread.
ccurl_load_result ccurl_load(void);
// The loader's or libcurl's message of this thread's last failure.
const char *_Nonnull ccurl_load_message(void);

// libcurl's memory (curl_global_init_mem(3)), by malloc(3); a few of the large blocks of each request are
// reused.
void *_Nullable ccurl_malloc(size_t size);
void *_Nullable ccurl_calloc(size_t count, size_t size);
void ccurl_free(void *_Nullable memory);

// curl_version_info(CURLVERSION_NOW).
const curl_version_info_data *_Nonnull ccurl_version(void);

// Easy handles.
CURL *_Nullable ccurl_easy_init(void);
void ccurl_easy_cleanup(CURL *_Nonnull easy);
CURLcode ccurl_set_long(CURL *_Nonnull easy, CURLoption option, long value);
CURLcode ccurl_set_offset(CURL *_Nonnull easy, CURLoption option, int64_t value);
CURLcode ccurl_set_pointer(CURL *_Nonnull easy, CURLoption option, const void *_Nullable value);
CURLcode ccurl_set_string(CURL *_Nonnull easy, CURLoption option, const char *_Nullable value);
CURLcode ccurl_set_blob(CURL *_Nonnull easy, CURLoption option, const void *_Nullable bytes, size_t count);
CURLcode ccurl_easy_pause(CURL *_Nonnull easy, int mask);
// Bytes over the connection of a handle that has only connected (CURLOPT_CONNECT_ONLY(3)); CURLE_AGAIN where
// it has to be waited for. What was refused so is sent again from the same address (SSL_write(3)).
CURLcode ccurl_easy_send(CURL *_Nonnull easy, const void *_Nonnull bytes, size_t count, size_t *_Nonnull sent);
CURLcode ccurl_easy_recv(CURL *_Nonnull easy, void *_Nonnull buffer, size_t count, size_t *_Nonnull received);
CURLcode ccurl_get_long(CURL *_Nonnull easy, CURLINFO info, long *_Nonnull value);
CURLcode ccurl_get_socket(CURL *_Nonnull easy, CURLINFO info, curl_socket_t *_Nonnull value);
CURLcode ccurl_get_offset(CURL *_Nonnull easy, CURLINFO info, int64_t *_Nonnull value);
CURLcode ccurl_get_string(CURL *_Nonnull easy, CURLINFO info, const char *_Nullable *_Nonnull value);
CURLcode ccurl_get_list(CURL *_Nonnull easy, CURLINFO info, struct curl_slist *_Nullable *_Nonnull value);
CURLcode ccurl_get_pointer(CURL *_Nonnull easy, CURLINFO info, void *_Nullable *_Nonnull value);
// The `SSL *` of a transfer's current connection (CURLINFO_TLS_SSL_PTR(3)); null without TLS, and with
// another library than OpenSSL or a relative of it.
void *_Nullable ccurl_openssl_session(CURL *_Nonnull easy);
const char *_Nonnull ccurl_easy_text(CURLcode code);

// libcurl's measurements of the last transfer. Times in microseconds (curl_easy_getinfo(3), "TIMES"); the
// texts are valid until the handle is used again.
typedef struct {
    int64_t name_lookup, connect, tls, request_start, first_byte, total, uploaded, downloaded;
    long header_bytes, connects, remote_port, local_port;
    const char *_Nullable remote, *_Nullable local;
} ccurl_figures;
ccurl_figures ccurl_get_figures(CURL *_Nonnull easy);

typedef size_t (*ccurl_data_function)(char *_Nonnull bytes, size_t size, size_t count, void *_Nullable user);

// Gathers the head of a response line by line and calls its function once for each head.
typedef struct ccurl_head ccurl_head;
// Called inside libcurl with a whole head, from its status line to the last field, each line as it came;
// `bytes` is valid during the call. A head longer than the limit comes with no bytes. False ends the
// transfer.
typedef bool (*ccurl_head_function)(void *_Nullable user, const char *_Nullable bytes, size_t count);
// A gatherer for one easy handle; has to live as long as the handle. Null without memory. `now` is read with
// each line.
ccurl_head *_Nullable ccurl_head_make(
    const int64_t *_Nonnull now, size_t limit, ccurl_head_function _Nonnull function);
void ccurl_head_free(ccurl_head *_Nullable head);
// Resets the state of the handle's former transfer.
void ccurl_head_restart(ccurl_head *_Nonnull head);
// The time of the first line since the restart; 0 before it.
int64_t ccurl_head_first(const ccurl_head *_Nonnull head);
// The time of the last line.
int64_t ccurl_head_last(const ccurl_head *_Nonnull head);
CURLcode ccurl_set_head(CURL *_Nonnull easy, ccurl_head *_Nonnull head, void *_Nullable user);

typedef int (*ccurl_seek_function)(void *_Nullable user, curl_off_t offset, int origin);
typedef int (*ccurl_before_function)(
    void *_Nullable user, char *_Nullable remote, char *_Nullable local, int remotePort, int localPort);
typedef curl_socket_t (*ccurl_open_function)(
    void *_Nullable user, curlsocktype purpose, struct curl_sockaddr *_Nonnull address);
typedef int (*ccurl_close_function)(void *_Nullable user, curl_socket_t socket);
typedef CURLcode (*ccurl_tls_function)(CURL *_Nonnull easy, void *_Nullable context, void *_Nullable user);
CURLcode ccurl_set_data_function(CURL *_Nonnull easy, CURLoption option, ccurl_data_function _Nullable function);
CURLcode ccurl_set_seek_function(CURL *_Nonnull easy, ccurl_seek_function _Nullable function);
// Called before each request is sent; 1 instead of 0 ends the transfer (CURLOPT_PREREQFUNCTION(3)).
CURLcode ccurl_set_before_function(CURL *_Nonnull easy, ccurl_before_function _Nullable function);
CURLcode ccurl_set_open_function(CURL *_Nonnull easy, ccurl_open_function _Nullable function);
CURLcode ccurl_set_close_function(CURL *_Nonnull easy, ccurl_close_function _Nullable function);
CURLcode ccurl_set_tls_function(CURL *_Nonnull easy, ccurl_tls_function _Nullable function);

// Parses a URL; null if libcurl does not understand it, and without memory.
CURLU *_Nullable ccurl_url_make(const char *_Nonnull text);
void ccurl_url_free(CURLU *_Nullable url);

struct curl_slist *_Nullable ccurl_list_append(struct curl_slist *_Nullable list, const char *_Nonnull text);
void ccurl_list_free(struct curl_slist *_Nullable list);

// The multi handle.
typedef int (*ccurl_socket_function)(
    CURL *_Nullable easy, curl_socket_t socket, int what, void *_Nullable user, void *_Nullable socketUser);
typedef int (*ccurl_timer_function)(CURLM *_Nonnull multi, long milliseconds, void *_Nullable user);
CURLM *_Nullable ccurl_multi_init(void);
CURLMcode ccurl_multi_cleanup(CURLM *_Nonnull multi);
CURLMcode ccurl_multi_set_long(CURLM *_Nonnull multi, CURLMoption option, long value);
CURLMcode ccurl_multi_set_callbacks(
    CURLM *_Nonnull multi, ccurl_socket_function _Nullable socket, ccurl_timer_function _Nullable timer,
    void *_Nullable user);
CURLMcode ccurl_multi_add(CURLM *_Nonnull multi, CURL *_Nonnull easy);
CURLMcode ccurl_multi_remove(CURLM *_Nonnull multi, CURL *_Nonnull easy);
CURLMcode ccurl_multi_action(CURLM *_Nonnull multi, curl_socket_t socket, int events, int *_Nonnull running);
// The next finished transfer's handle, and its result in `result`; null if there is none.
CURL *_Nullable ccurl_multi_next_done(CURLM *_Nonnull multi, CURLcode *_Nonnull result);
const char *_Nonnull ccurl_multi_text(CURLMcode code);

// The data that a session's transfers share; used by one thread.
CURLSH *_Nullable ccurl_share_init(void);
CURLSHcode ccurl_share_set(CURLSH *_Nonnull share, curl_lock_data what);
CURLSHcode ccurl_share_cleanup(CURLSH *_Nonnull share);

// Macros.
enum {
    CCURL_WRITE_PAUSE = CURL_WRITEFUNC_PAUSE,
    CCURL_READ_ABORT = CURL_READFUNC_ABORT,
    CCURL_READ_PAUSE = CURL_READFUNC_PAUSE,
    CCURL_PAUSE_ALL = CURLPAUSE_ALL,
    CCURL_PAUSE_RECV = CURLPAUSE_RECV,
    CCURL_PAUSE_SEND = CURLPAUSE_SEND,
    CCURL_PAUSE_NONE = CURLPAUSE_CONT,
    CCURL_POLL_NONE = CURL_POLL_NONE,
    CCURL_POLL_IN = CURL_POLL_IN,
    CCURL_POLL_OUT = CURL_POLL_OUT,
    CCURL_POLL_INOUT = CURL_POLL_INOUT,
    CCURL_POLL_REMOVE = CURL_POLL_REMOVE,
    CCURL_SELECT_IN = CURL_CSELECT_IN,
    CCURL_SELECT_OUT = CURL_CSELECT_OUT,
    CCURL_SELECT_ERR = CURL_CSELECT_ERR,
    CCURL_SOCKET_TIMEOUT = CURL_SOCKET_TIMEOUT,
    CCURL_SOCKET_BAD = CURL_SOCKET_BAD,
};
enum { CCURL_PIPELINING_MULTIPLEX = CURLPIPE_MULTIPLEX };
enum {
    CCURL_AUTH_BASIC = 1,
    CCURL_AUTH_DIGEST = 2,
    CCURL_AUTH_NTLM = 8,
    CCURL_AUTH_NEGOTIATE = 4,
};

#endif
