/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network's status on a Linux device, asked of the service of Reach (reach-serve(8)) over its varlink
 * socket.
 *
 * A client follows the status, waits for a network, asks about one host, and hands requests to the outbox:
 *
 *     static void changed(reach_client *client, reach_event event, const reach_reply *reply, void *data)
 *     {
 *         const reach_report *report = reach_reply_report(reply);
 *         puts(report ? reach_report_reason(report) : reach_reply_message(reply));
 *     }
 *
 *     reach_client *client;
 *     if (reach_client_new(&client, NULL) == 0) {
 *         reach_client_monitor(client, 0, changed, NULL);
 *         while (reach_client_run_once(client, -1) >= 0);
 *         reach_client_free(client);
 *     }
 *
 * No function waits for the service, but for reach_client_run_once(), whose purpose that is. Three ways to
 * drive a client:
 *
 * - a loop of the program's own: poll reach_client_fd() for POLLIN, then call reach_client_dispatch();
 * - reach_client_run_once(), for programs that do nothing else;
 * - a thread of the library: reach_client_start_thread().
 *
 * Errors are negative values of reach_error. A function that begins a call returns only errors of its
 * arguments and of memory; what goes wrong on the way is passed to the call's callback. A callback is never
 * called from inside the function that began the call, but by reach_client_dispatch(),
 * reach_client_run_once(), or the library's thread.
 *
 * Threads: every function may be called from any thread, also from callbacks, which must not throw C++
 * exceptions. No lock is held during a callback, and the callbacks of one client never run at the same time.
 * Replies, reports and what is read from them never change; any thread may read them. Let one thread dispatch
 * a client: another returns at once meanwhile.
 *
 * Texts are in UTF-8 and end with a NUL. A text belongs to the reply or report that it was read from. A NULL
 * argument where an object is expected makes a function return what stands for "none"; it does not crash.
 *
 * Values that a later service adds never become errors: an enumeration says REACH_..._OTHER, and the word
 * itself and unknown members are read with reach_value_member(). Compile for a later library than the one
 * installed, and the linker says so; the symbols of a soname are never removed.
 */
#ifndef REACH_CLIENT_H
#define REACH_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define REACH_API __attribute__((visibility("default")))
#else
#define REACH_API
#endif

/* The version of this header. */
#define REACH_CLIENT_VERSION_MAJOR 0
#define REACH_CLIENT_VERSION_MINOR 1
#define REACH_CLIENT_VERSION_PATCH 0

/* The socket of the service, unless the environment's REACH_SOCKET or reach_client_new() name another. */
#define REACH_CLIENT_DEFAULT_SOCKET "/run/reach/reach.varlink"

/* The version of the library that is loaded: "0.1.0". */
REACH_API const char *reach_client_version(void);

/* A connection to the service that is made, watched and made again. */
typedef struct reach_client reach_client;
/* The answer to a call, or why there is none. Counted by references. */
typedef struct reach_reply reach_reply;
/* The network at one moment: the members of 'reach status --json'. A part of a reply. */
typedef struct reach_report reach_report;
/* One interface in a report. A part of it. */
typedef struct reach_link reach_link;
/* One request in the outbox. A part of a reply. */
typedef struct reach_entry reach_entry;
/* One question to the kernel, in the answer of reach_client_explain(). A part of a report. */
typedef struct reach_step reach_step;
/* A JSON value. A part of a reply. */
typedef struct reach_value reach_value;
/* Names a call for reach_client_cancel(); never 0. A number is not used again within a client. */
typedef uint64_t reach_call;

/* ------------------------------------------------------------------------------------------------- errors */

typedef enum reach_error {
    REACH_OK = 0,
    /* An argument is not allowed, or the call does not suit the state of the client. */
    REACH_ERROR_INVALID_ARGUMENT = -1,
    REACH_ERROR_NO_MEMORY = -2,
    /* The kernel refused something else; reach_reply_errno() says what. */
    REACH_ERROR_SYSTEM = -3,

    /* Reaching the service. */
    /*
     * There is no socket (ENOENT, ENOTDIR): the service is not installed, was never started, or has another
     * socket.
     */
    REACH_ERROR_NO_SERVICE = -10,
    /* There is a socket, and no process listens (ECONNREFUSED): the service has crashed or was killed. */
    REACH_ERROR_NOT_RUNNING = -11,
    /* The socket, or a folder on the way to it, may not be used by this user (EACCES, EPERM). */
    REACH_ERROR_ACCESS = -12,
    /* The service's queue of connections is full (EAGAIN), and stayed so until the time limit of the call. */
    REACH_ERROR_BUSY = -13,
    /* The service closed the connection before it answered: it ends, restarts, or its limits are reached. */
    REACH_ERROR_DISCONNECTED = -14,
    /* What listens at the socket does not speak varlink as the service does. */
    REACH_ERROR_PROTOCOL = -15,
    /* The time limit of the call has passed. */
    REACH_ERROR_TIMED_OUT = -16,

    /* Answers of the service. */
    /* Wait: no interface has a carrier. */
    REACH_ERROR_NO_CARRIER = -20,
    /* The service runs without this part (a probe, an outbox), or it does not work at this time. */
    REACH_ERROR_UNAVAILABLE = -21,
    /* A limit of the service is reached: connections, subscriptions, bytes. */
    REACH_ERROR_LIMIT = -22,
    /*
     * This user may not call the method; the outbox is for root, the service's user and a configured group.
     */
    REACH_ERROR_PERMISSION = -23,
    /* The service does not allow a parameter; the message names it. */
    REACH_ERROR_INVALID_PARAMETER = -24,
    /* The service is older than the method. */
    REACH_ERROR_NO_SUCH_METHOD = -25,
    REACH_ERROR_NO_SUCH_INTERFACE = -26,
    /* The outbox has no such request: it has left, or was never there. */
    REACH_ERROR_NO_SUCH_ENTRY = -27,
    /* Another request with this idempotency key waits. */
    REACH_ERROR_KEY_TAKEN = -28,
    /* Requests with this name (replaces) wait in another lane. */
    REACH_ERROR_NAME_TAKEN = -29,
    /* The outbox refuses the request: its parts do not fit together, or a path is not allowed. */
    REACH_ERROR_BAD_REQUEST = -30,
    /* Another error of the service; reach_reply_error_name() has its name. */
    REACH_ERROR_OTHER = -99
} reach_error;

/* A sentence for an error code, in English, without a full stop; never NULL. Static. */
REACH_API const char *reach_error_text(int error);

/* --------------------------------------------------------------------------------------------- the client */

/*
 * Makes a client. Nothing is connected yet: that is done by what is called next.
 *
 * socket: the path of the service's socket, copied; "@name" is an abstract one (unix(7)). NULL means
 * REACH_SOCKET of the environment (not in set-user-ID programs, secure_getenv(3)), else
 * REACH_CLIENT_DEFAULT_SOCKET. With an empty text every call fails with REACH_ERROR_NO_SERVICE, as if no
 * service was installed.
 *
 * Takes an epoll and a timer descriptor, both close-on-exec, and about 1 KiB.
 *
 * Returns 0, or REACH_ERROR_INVALID_ARGUMENT (the path is longer than unix(7) allows), REACH_ERROR_NO_MEMORY,
 * or REACH_ERROR_SYSTEM with errno set (no descriptor is left).
 */
REACH_API int reach_client_new(reach_client **client, const char *socket);

/*
 * Ends all calls without calling their callbacks, ends the library's thread, and frees the client. NULL is
 * allowed.
 *
 * In a callback it is allowed too: the client is freed when the callback has returned. On another thread it
 * waits for a callback that is running, so hold no lock that the callback takes.
 *
 * A process that was forked may only call this function, for clients that were made before.
 */
REACH_API void reach_client_free(reach_client *client);

/* The path of the socket that is used; "" if no service is to be asked. Valid as long as the client. */
REACH_API const char *reach_client_socket(const reach_client *client);

/*
 * A descriptor that is readable (POLLIN) when reach_client_dispatch() has something to do; the same as long
 * as the client lives. It is an epoll(7) descriptor with all sockets and time limits of the client in it: no
 * other events and no timeout need to be polled for, though reach_client_timeout() has one. Works in poll(2),
 * select(2), epoll(7), GLib's g_unix_fd_source_new(), sd_event_add_io(), libuv's uv_poll_t and Qt's
 * QSocketNotifier. Level-triggered.
 *
 * Do not read, write or close it. -1 for NULL.
 */
REACH_API int reach_client_fd(const reach_client *client);

/*
 * The milliseconds until reach_client_dispatch() should be called although the descriptor is not readable
 * before; 0 if at once, -1 if there is no time limit. For loops that like to compute it themselves: the
 * descriptor gets readable then anyway, within a millisecond.
 */
REACH_API int reach_client_timeout(const reach_client *client);

/*
 * Does what is due without waiting: connects, writes, reads, and calls the callbacks of what has ended. To be
 * called when the descriptor is readable; at other times it does no harm.
 *
 * Returns the number of callbacks that were called, or REACH_ERROR_INVALID_ARGUMENT with a thread of the
 * library or in a callback of the same client, REACH_ERROR_NO_MEMORY. A failed call is passed to its callback
 * and is no error here.
 */
REACH_API int reach_client_dispatch(reach_client *client);

/*
 * Waits until something has happened, for so many milliseconds at most (-1 without a limit, 0 not at all),
 * then dispatches.
 *
 * Returns what reach_client_dispatch() returns, 0 also after the time or a signal; REACH_ERROR_SYSTEM with
 * errno set if poll(2) fails.
 */
REACH_API int reach_client_run_once(reach_client *client, int timeout_ms);

/*
 * Starts a thread that calls the callbacks; all signals are blocked in it, its stack has 256 KiB. It ends
 * with reach_client_free(). The descriptor must not be polled any more.
 *
 * Returns 0, REACH_ERROR_INVALID_ARGUMENT if there is one already, or REACH_ERROR_SYSTEM with errno set (no
 * thread can be started).
 */
REACH_API int reach_client_start_thread(reach_client *client);

/* ----------------------------------------------------------------------------------- following the status */

/* What a monitor's callback is called for. */
typedef enum reach_event {
    /*
     * The service is there and has said how things are: once after reach_client_monitor(), and again each
     * time that the service was away and has come back. The reply has a report.
     */
    REACH_EVENT_INITIAL = 1,
    /* The status is another; a loss is one after 500 ms. The reply has a report. */
    REACH_EVENT_STATUS = 2,
    /* The path is another, or is usable or not any more, at once after a change. The reply has a report. */
    REACH_EVENT_PATH = 3,
    /* What is behind the path or another link is another. The reply has a report. */
    REACH_EVENT_INTERNET = 4,
    /*
     * The service cannot be reached: reach_reply_error() says why, reach_reply_message() what to do. Called
     * once when it is lost, or was not there at first, and again only if the code is another meanwhile. The
     * client goes on trying.
     */
    REACH_EVENT_AWAY = 5,
    /* A later service's event. The reply has a report. */
    REACH_EVENT_OTHER = 127
} reach_event;

/* The reply is valid until the callback returns, or as long as reach_reply_ref() keeps it. */
typedef void (*reach_monitor_callback)(
    reach_client *client, reach_event event, const reach_reply *reply, void *data);

/* Only events of the status: INITIAL, STATUS and AWAY. */
#define REACH_MONITOR_STATUS_ONLY 1u

/*
 * Follows the status, until reach_client_free() or reach_client_stop_monitor().
 *
 * Where the service is away it is tried again after 100 ms, then after pauses that double up to 30 s; a
 * socket that appears is tried at once (inotify(7)), and while that is watched for, an absent service causes
 * no wake-up after the first five tries. A service that accepts the connection and says nothing for 10 s
 * counts as away (REACH_ERROR_TIMED_OUT); one that has once answered may be silent for ever.
 *
 * A program that dispatches too late gets the newest change, without those between: the service keeps no
 * others beyond 64 KiB, and disconnects a reader after 60 s without reading, which is reported as AWAY and
 * ends at once.
 *
 * callback: may be NULL, for programs that only call reach_client_report().
 *
 * Returns 0, REACH_ERROR_INVALID_ARGUMENT (unknown flags, or there is a monitor already),
 * REACH_ERROR_NO_MEMORY.
 */
REACH_API int reach_client_monitor(
    reach_client *client, unsigned flags, reach_monitor_callback callback, void *data);

/*
 * Ends the monitor; its callback is not called any more. On another thread than the callback's it waits for a
 * callback that is running.
 */
REACH_API void reach_client_stop_monitor(reach_client *client);

/*
 * The newest report of the monitor, for which reach_report_unref() is to be called; NULL without a monitor,
 * before the service has answered, and while it is away: the last report before says nothing about now. A
 * program that wants it nevertheless keeps that of the last event.
 */
REACH_API const reach_report *reach_client_report(const reach_client *client);

/* Whether the service is there. */
typedef enum reach_connection {
    /* There is no monitor. */
    REACH_CONNECTION_NONE = 0,
    /* The first try is under way. */
    REACH_CONNECTION_STARTING = 1,
    /* The service answers; reach_client_report() has a report. */
    REACH_CONNECTION_PRESENT = 2,
    /* The service is away. */
    REACH_CONNECTION_AWAY = 3
} reach_connection;

/* Whether the monitor's service is there. */
REACH_API reach_connection reach_client_connection(const reach_client *client);

/*
 * Lets a service that is away be tried at once, and the pauses begin anew: a user has pressed a key, for
 * instance.
 */
REACH_API void reach_client_retry_now(reach_client *client);

/* -------------------------------------------------------------------------------------------------- calls */

/*
 * Called once with the answer, or with why there is none; not after reach_client_cancel(). The reply is valid
 * until it returns, or as long as reach_reply_ref() keeps it.
 */
typedef void (*reach_call_callback)(
    reach_client *client, reach_call call, const reach_reply *reply, void *data);

/* A time limit for calls that are answered at once: five seconds. */
#define REACH_DEFAULT_TIMEOUT_MS 5000
/* No time limit. */
#define REACH_NO_TIMEOUT 0

/*
 * About all calls below:
 *
 * - Each has a connection of its own, so that they do not wait for one another; the service permits 64 of one
 *   user and 128 of root, and closes the connection that has been idle longest.
 * - timeout_ms is the time until the callback is called, in milliseconds, with REACH_ERROR_TIMED_OUT at the
 *   latest; REACH_NO_TIMEOUT is for ever.
 * - The time limit of a wait is the service's too: its answer, which says what is missing, is waited for a
 *   quarter of a second longer.
 * - A service that is not there is an error at once: NO_SERVICE, NOT_RUNNING or ACCESS. One whose queue is
 *   full is tried again within the time limit, or 10 s.
 * - A service that restarts during a call is asked again when it is back, within the time limit, or 30 s for
 *   a call without one: all calls here may be repeated without harm, except those of reach_client_call().
 * - call may be NULL.
 * - They return 0, REACH_ERROR_INVALID_ARGUMENT or REACH_ERROR_NO_MEMORY; then the callback is not called.
 */

/* Asks how things are now. The reply has a report. */
REACH_API int reach_client_get_status(
    reach_client *client, int64_t timeout_ms, reach_call_callback callback, void *data, reach_call *call);

/*
 * Asks the kernel afresh how a host can be reached: a name or an address, "fe80::1%eth0" too; NULL asks for
 * anywhere. The reply has a report about that host, with its steps: reach_report_is_online() says whether it
 * can be reached.
 *
 * "Can be reached" means that there is a route, a source address and a live link; no packet is sent. A name
 * is looked up by the service, which takes as long as resolv.conf(5) says; a name without an address is a
 * report with REACH_REASON_UNRESOLVED and not an error. The service looks up eight names at a time, and
 * refuses more with REACH_ERROR_LIMIT.
 */
REACH_API int reach_client_explain(
    reach_client *client, const char *host, int64_t timeout_ms, reach_call_callback callback, void *data,
    reach_call *call);

/* What reach_client_wait() waits for. */
typedef enum reach_goal {
    REACH_GOAL_REACHABLE = 0,
    REACH_GOAL_UNREACHABLE = 1,
    REACH_GOAL_WIFI = 2,
    REACH_GOAL_WIRED = 3,
    /* The server of the service's probe answers; REACH_ERROR_UNAVAILABLE without a probe. */
    REACH_GOAL_INTERNET = 4
} reach_goal;

/* The condition of a wait. Zero everything that is not set; members are added at the end only. */
typedef struct reach_wait_options {
    /* sizeof(reach_wait_options) */
    size_t size;
    reach_goal goal;
    /* Through each of the interfaces, and not any of them. */
    bool all;
    /* Begin also while no service runs, and wait for it too, as a program at boot does. */
    bool await_service;
    /*
     * Interfaces, through one of which it has to hold; ends with a NULL; at most 64. NULL: whichever the
     * kernel uses.
     */
    const char *const *interfaces;
    /* Shell patterns of interfaces that do not count, without interfaces; ends with a NULL; at most 64. */
    const char *const *ignore;
    /* How long it has to hold, in milliseconds. */
    int64_t stable_ms;
    /* Gives up with REACH_ERROR_NO_CARRIER when no interface has had a carrier for so long; 0: never. */
    int64_t no_carrier_ms;
} reach_wait_options;

/*
 * Waits until the condition holds. The reply has a report; its message tells what is missing when the time is
 * over.
 *
 * options: NULL for REACH_GOAL_REACHABLE.
 */
REACH_API int reach_client_wait(
    reach_client *client, const reach_wait_options *options, int64_t timeout_ms, reach_call_callback callback,
    void *data, reach_call *call);

/*
 * Calls any method, with parameters as the text of a JSON object; NULL for none. For methods that have no
 * function here: see 'varlinkctl introspect', or docs/service.md. It is not repeated when the service
 * restarts (REACH_ERROR_DISCONNECTED).
 *
 * method: "ListOutbox" of io.reach.Reachability, or a name with its interface, "org.varlink.service.GetInfo".
 */
REACH_API int reach_client_call(
    reach_client *client, const char *method, const char *parameters, int64_t timeout_ms, reach_call_callback
    callback, void *data, reach_call *call);

/*
 * Ends a call without its callback, which is not called any more; the service ends it too. On another thread
 * than the callback's it waits for a callback of this call that is running. A request that was handed over
 * for the outbox may be stored nevertheless.
 *
 * Returns whether the call was pending.
 */
REACH_API bool reach_client_cancel(reach_client *client, reach_call call);

/* --------------------------------------------------------------------------------------------- the outbox */

/* A request for the outbox. Zero everything that is not set; members are added at the end only. */
typedef struct reach_request {
    /* sizeof(reach_request) */
    size_t size;
    /* http or https. */
    const char *url;
    /* NULL: POST. */
    const char *method;
    /* Names and values in turn, ends with a NULL: {"Content-Type", "application/json", NULL}. NULL: none. */
    const char *const *headers;
    /*
     * body_length bytes of any kind; NULL: none. Up to 720 KiB; a longer one goes to AddContent, see
     * reach_client_call().
     */
    const void *body;
    size_t body_length;
    /* Requests of a lane are sent in their order. NULL: the common lane. */
    const char *lane;
    /*
     * Tells servers, and the outbox, that two requests are the same (the header field Idempotency-Key). NULL:
     * a random one, by which also the library recognizes a request that was stored while the service
     * restarted.
     */
    const char *idempotency_key;
    /* any, wifiOrWired, wiredOnly, notExpensive, notConstrained, internet. NULL: any. */
    const char *network;
    /* Dropped if it could not be sent in so many milliseconds; 0: never. */
    int64_t expires_in_ms;
    /* Of those that may leave, the greatest first: -1000000 to 1000000. */
    int32_t priority;
    /* Given up after so many failures; 0: the service's default. */
    int32_t maximum_attempts;
    /* The time for the server's answer in milliseconds; 0: the service's default. */
    int64_t answer_timeout_ms;
    /* A name, of which only the newest request leaves; it belongs to one lane. NULL: none. */
    const char *replaces;
    /* With replaces: it is not stored where one with the name waits (reach_reply_is_repeated()). */
    bool keep;
    /* Names by which requests are listed and removed; ends with a NULL. NULL: none. */
    const char *const *tags;
    /* When it is sent at the earliest, "2026-03-01T02:00:00Z". NULL: at once. */
    const char *not_before;
    /* The time of day in which it is sent, "22:00-06:00" or "sat,sun 00:00-24:00". NULL: any. */
    const char *window;
    /* A random part of so many milliseconds is added to not_before and each opening of the window. */
    int64_t spread_ms;
    /* Stored again with this period in milliseconds; needs replaces. 0: sent once. */
    int64_t every_ms;
    /* It waits while one of these gates is held; ends with a NULL. NULL: none. */
    const char *const *gates;
} reach_request;

/*
 * Puts a request into the outbox. When the callback is called without an error, the request is on the disk of
 * the service, which sends it as soon as there is a network, also after a crash. Everything is copied.
 *
 * The reply has reach_reply_entry_id().
 */
REACH_API int reach_client_enqueue(
    reach_client *client, const reach_request *request, int64_t timeout_ms, reach_call_callback callback, void
    *data, reach_call *call);

/* A file that the outbox fetches. Zero everything that is not set; members are added at the end only. */
typedef struct reach_fetch {
    /* sizeof(reach_fetch) */
    size_t size;
    /*
     * Where it is put: an absolute path below a folder of the service's outbox.fetch.folders, through no
     * link. What is there is replaced when the new file is whole.
     */
    const char *file;
    /* Its SHA-256 as sha256sum(1) prints it; another content is thrown away. NULL: any content. */
    const char *sha256;
    /* URLs of the same content, asked when the one before fails; ends with a NULL; at most 16. NULL: none. */
    const char *const *mirrors;
    /* Its permissions, 0400 to 0777, without set-user-ID and its like. 0: 0644. */
    uint32_t mode;
} reach_fetch;

/*
 * Has a file fetched by the outbox, as 'reach fetch' does: over restarts and reboots, when there is a network
 * and the request's times and gates permit it. When the callback is called without an error, the request is
 * on the disk of the service, which goes on from the last byte that it has. Everything is copied.
 *
 * request: with its url, and without method and body. lane: NULL for "downloads".
 *
 * The reply has reach_reply_entry_id(); reach_client_wait_outbox() and reach_client_follow_outbox() tell when
 * the file is there, reach_reply_file(). REACH_ERROR_BAD_REQUEST: the file may not be put there; the message
 * says why. Where the service is root's the caller gets the file, else it is the service's.
 */
REACH_API int reach_client_enqueue_fetch(
    reach_client *client, const reach_request *request, const reach_fetch *fetch, int64_t timeout_ms,
    reach_call_callback callback, void *data, reach_call *call);

/*
 * Waits until a request has left the outbox or is given up. The reply has reach_reply_outcome(). Several may
 * be waited for, each with a connection. REACH_ERROR_NO_SUCH_ENTRY if it is not there any more: the service
 * remembers the outcomes of the last thousand.
 */
REACH_API int reach_client_wait_outbox(
    reach_client *client, const char *id, int64_t timeout_ms, reach_call_callback callback, void *data,
    reach_call *call);

/*
 * Follows a request to its end; or, with NULL for id, all requests of a lane, or with a tag, or of both, or
 * all with NULL for each. The callback is called for each change; reach_reply_change() says what it is, and
 * as long as reach_reply_continues() is true, more follow. The last reply about a request is that it has left
 * or is dead, or an error. Following lanes and tags has no end but an error and reach_client_cancel().
 *
 * Everything is told again when the service was restarted. A program that does not read for long gets
 * REACH_ERROR_LIMIT. REACH_ERROR_NO_SUCH_ENTRY: it has left, and what became of it is not remembered any more.
 */
REACH_API int reach_client_follow_outbox(
    reach_client *client, const char *id, const char *lane, const char *tag, int64_t timeout_ms,
    reach_call_callback callback, void *data, reach_call *call);

/*
 * Lists the requests of the outbox, the oldest first; of one lane, or of all with NULL. limit: 1 to 10000; 0
 * for 100. The reply has reach_reply_entry().
 */
REACH_API int reach_client_list_outbox(
    reach_client *client, const char *lane, int limit, int64_t timeout_ms, reach_call_callback callback, void
    *data, reach_call *call);

/* What became of a request. */
typedef enum reach_outcome {
    /* The reply is not about that, or an error. */
    REACH_OUTCOME_NONE = 0,
    /* A server has accepted it; the file that was to be fetched is in its place. */
    REACH_OUTCOME_DELIVERED = 1,
    /* Its time was over. */
    REACH_OUTCOME_EXPIRED = 2,
    /* Dropped for room, or by a rule of the service. */
    REACH_OUTCOME_DROPPED = 3,
    /* Removed by a user. */
    REACH_OUTCOME_REMOVED = 4,
    /* Given up; it stays in the outbox until RetryOutbox or RemoveOutbox is called. */
    REACH_OUTCOME_DEAD = 5,
    /* A newer one of its name took its place: reach_reply_successor(). */
    REACH_OUTCOME_REPLACED = 6,
    REACH_OUTCOME_OTHER = 127
} reach_outcome;

/* What reach_client_follow_outbox() tells. */
typedef enum reach_change {
    /* The reply is not about that, or an error. */
    REACH_CHANGE_NONE = 0,
    /* A request that is there: reach_reply_changed_entry(). */
    REACH_CHANGE_PRESENT = 1,
    /* All that were there have been told. */
    REACH_CHANGE_READY = 2,
    /* Another state, failure, time or reason for waiting: reach_reply_changed_entry(). */
    REACH_CHANGE_CHANGED = 3,
    /* So many bytes were sent, or fetched: reach_reply_sent_bytes(). */
    REACH_CHANGE_PROGRESS = 4,
    /* It is given up: reach_reply_changed_entry(), reach_reply_answer(). */
    REACH_CHANGE_DEAD = 5,
    /* It has left: reach_reply_outcome(). */
    REACH_CHANGE_LEFT = 6,
    REACH_CHANGE_OTHER = 127
} reach_change;

/* Why a request is dead. */
typedef enum reach_failure {
    REACH_FAILURE_NONE = 0,
    REACH_FAILURE_NETWORK = 1,
    REACH_FAILURE_SERVER = 2,
    REACH_FAILURE_REFUSED = 3,
    REACH_FAILURE_SECURITY = 4,
    REACH_FAILURE_SECRET = 5,
    REACH_FAILURE_CREDENTIALS = 6,
    REACH_FAILURE_UNSENDABLE = 7,
    REACH_FAILURE_LOCAL = 8,
    REACH_FAILURE_OTHER = 127
} reach_failure;

/* ------------------------------------------------------------------------------------------------ replies */

/* Keeps a reply beyond its callback. Returns it. */
REACH_API const reach_reply *reach_reply_ref(const reach_reply *reply);
/* Releases what reach_reply_ref() has kept. NULL is allowed. */
REACH_API void reach_reply_unref(const reach_reply *reply);

/* 0 for an answer, else a reach_error. */
REACH_API int reach_reply_error(const reach_reply *reply);
/* A sentence that says what is wrong and, where that is known, what to do; "" for an answer. Never NULL. */
REACH_API const char *reach_reply_message(const reach_reply *reply);
/* errno of the system call that failed; 0 if none did. */
REACH_API int reach_reply_errno(const reach_reply *reply);
/* The service's own name of the error, "io.reach.Reachability.TimedOut"; NULL if it is not the service's. */
REACH_API const char *reach_reply_error_name(const reach_reply *reply);
/*
 * The parameters of the answer, or of the service's error, as JSON, byte for byte as they came; NULL if there
 * was no answer. length: how many bytes, without the NUL at the end; may be NULL.
 */
REACH_API const char *reach_reply_json(const reach_reply *reply, size_t *length);
/* The same as a value, for members that have no function here; NULL if there was no answer. */
REACH_API const reach_value *reach_reply_parameters(const reach_reply *reply);
/* The report, where the call has one and was answered; else NULL. */
REACH_API const reach_report *reach_reply_report(const reach_reply *reply);

/*
 * Of reach_client_enqueue(), reach_client_enqueue_fetch() and reach_client_follow_outbox(): the entry's id;
 * NULL otherwise.
 */
REACH_API const char *reach_reply_entry_id(const reach_reply *reply);
/*
 * Of reach_client_enqueue() and reach_client_enqueue_fetch(): a request with this idempotency key, or with
 * keep this name, was there, and nothing was added.
 */
REACH_API bool reach_reply_is_repeated(const reach_reply *reply);
/* Of reach_client_wait_outbox() and reach_client_follow_outbox(): what became of the request. */
REACH_API reach_outcome reach_reply_outcome(const reach_reply *reply);
/* Of reach_client_wait_outbox(): why it is dead. */
REACH_API reach_failure reach_reply_failure(const reach_reply *reply);
/* Of reach_client_wait_outbox(): the server's status code; 0 if there was none. */
REACH_API int reach_reply_status_code(const reach_reply *reply);
/* Whether more replies to this call follow. */
REACH_API bool reach_reply_continues(const reach_reply *reply);
/* Of reach_client_follow_outbox(): what has changed; of which request, reach_reply_entry_id() says. */
REACH_API reach_change reach_reply_change(const reach_reply *reply);
/* Of reach_client_follow_outbox(): the request as it is now, or NULL. */
REACH_API const reach_entry *reach_reply_changed_entry(const reach_reply *reply);
/*
 * Of reach_client_follow_outbox(): how many bytes of its body were sent, or of its file fetched, of how many;
 * 0 for a total that is not known.
 */
REACH_API int64_t reach_reply_sent_bytes(const reach_reply *reply);
REACH_API int64_t reach_reply_total_bytes(const reach_reply *reply);
/* Of reach_client_wait_outbox() and reach_client_follow_outbox(): what took its place, or NULL. */
REACH_API const char *reach_reply_successor(const reach_reply *reply);
/* Of the same: the path of a file that was fetched, and is in its place; NULL otherwise. */
REACH_API const char *reach_reply_file(const reach_reply *reply);
/* Of the same: its bytes; 0 if there is none. */
REACH_API int64_t reach_reply_file_bytes(const reach_reply *reply);
/*
 * Of the same: the beginning of the server's answer, with the members statusCode, header, and body, or
 * bodyBase64 where it is no text; NULL if there is none.
 */
REACH_API const reach_value *reach_reply_answer(const reach_reply *reply);
/* Of reach_client_list_outbox(): how many entries are listed. */
REACH_API size_t reach_reply_entry_count(const reach_reply *reply);
/* Of reach_client_list_outbox(): an entry; NULL beyond the last. */
REACH_API const reach_entry *reach_reply_entry(const reach_reply *reply, size_t index);
/* Of reach_client_list_outbox(): how many there are in all lanes, listed or not. */
REACH_API int64_t reach_reply_entry_total(const reach_reply *reply);

/* One request of the outbox; texts are NULL where there is none. */
REACH_API const char *reach_entry_id(const reach_entry *entry);
REACH_API const char *reach_entry_lane(const reach_entry *entry);
REACH_API const char *reach_entry_method(const reach_entry *entry);
/* Without user and password. */
REACH_API const char *reach_entry_url(const reach_entry *entry);
/* Given up: it is not sent by itself any more. */
REACH_API bool reach_entry_is_dead(const reach_entry *entry);
REACH_API int64_t reach_entry_attempts(const reach_entry *entry);
/* The bytes of its body. */
REACH_API int64_t reach_entry_bytes(const reach_entry *entry);
/* The path of the file that it fetches. */
REACH_API const char *reach_entry_file(const reach_entry *entry);
REACH_API const char *reach_entry_idempotency_key(const reach_entry *entry);
REACH_API const char *reach_entry_last_error(const reach_entry *entry);
/* Why it waits although its turn has come. */
REACH_API const char *reach_entry_hold(const reach_entry *entry);
/* Times, as reach_report_since(); false if there is none. */
REACH_API bool reach_entry_created(const reach_entry *entry, int64_t *unix_ms);
REACH_API bool reach_entry_expires(const reach_entry *entry, int64_t *unix_ms);
REACH_API bool reach_entry_next_attempt(const reach_entry *entry, int64_t *unix_ms);
/* All members, for those without a function. */
REACH_API const reach_value *reach_entry_value(const reach_entry *entry);

/* ------------------------------------------------------------------------------------------------ reports */

/* The status. The numbers are those of the Swift library and of AFNetworking. */
typedef enum reach_status {
    /* Not known: the service has just started, or the kernel refuses. Hold nothing back for it. */
    REACH_STATUS_UNKNOWN = -1,
    /* No route, no address, no carrier, or a dead link. */
    REACH_STATUS_UNREACHABLE = 0,
    /* Wi-Fi carries the path, whatever is stacked on it. */
    REACH_STATUS_WIFI = 2,
    /* Anything else carries it: Ethernet, cellular, this machine itself. */
    REACH_STATUS_WIRED = 3,
    /* A later service's status; reach_report_is_online() says whether it is reachable. */
    REACH_STATUS_OTHER = 127
} reach_status;

/* What is behind the path, where a server is asked (the service's probe.url). */
typedef enum reach_internet {
    /* No server is asked: nothing is known beyond the path. */
    REACH_INTERNET_NOT_PROBED = 0,
    /* Not asked yet. */
    REACH_INTERNET_UNKNOWN = 1,
    /* There is no path. */
    REACH_INTERNET_NONE = 2,
    /* There is a path, and the server does not answer as it should. */
    REACH_INTERNET_LIMITED = 3,
    /* Another server answers: sign in to this network; reach_report_portal() may say where. */
    REACH_INTERNET_PORTAL = 4,
    /* The server answers. */
    REACH_INTERNET_FULL = 5,
    REACH_INTERNET_OTHER = 127
} reach_internet;

/* Whether traffic costs. The numbers are those of NetworkManager's NMMetered. */
typedef enum reach_metered {
    REACH_METERED_UNKNOWN = 0,
    REACH_METERED_YES = 1,
    REACH_METERED_NO = 2,
    REACH_METERED_GUESS_YES = 3,
    REACH_METERED_GUESS_NO = 4,
    REACH_METERED_OTHER = 127
} reach_metered;

/* The kind of an interface. */
typedef enum reach_medium {
    /* There is no interface. */
    REACH_MEDIUM_NONE = 0,
    REACH_MEDIUM_ETHERNET = 1,
    REACH_MEDIUM_WIFI = 2,
    REACH_MEDIUM_CELLULAR = 3,
    REACH_MEDIUM_TUNNEL = 4,
    REACH_MEDIUM_BRIDGE = 5,
    REACH_MEDIUM_BOND = 6,
    REACH_MEDIUM_VLAN = 7,
    REACH_MEDIUM_VIRTUAL = 8,
    REACH_MEDIUM_LOOPBACK = 9,
    /* Another kind, or a later service's. */
    REACH_MEDIUM_OTHER = 127
} reach_medium;

/* Why there is a path, or none. */
typedef enum reach_reason {
    REACH_REASON_NONE = 0,
    /* A usable default route. */
    REACH_REASON_DEFAULT_ROUTE = 1,
    /* A usable route to the host that is no default route. */
    REACH_REASON_HOST_ROUTE = 2,
    /* The host is this machine. */
    REACH_REASON_LOCAL = 3,
    REACH_REASON_NO_ROUTE = 4,
    /* The route's interface has no address to send from. */
    REACH_REASON_NO_ADDRESS = 5,
    REACH_REASON_LINK_LOCAL_ONLY = 6,
    /* No carrier, switched off, or waiting for authentication. */
    REACH_REASON_LINK_DOWN = 7,
    /* A bridge or bond without a usable port. */
    REACH_REASON_NO_PORTS = 8,
    /* The interface is a port of a bridge, bond or team. */
    REACH_REASON_BRIDGE_PORT = 9,
    /* The interface drops all packets. */
    REACH_REASON_DROPPED = 10,
    /* Routes that refuse or drop. */
    REACH_REASON_PROHIBITED = 11,
    REACH_REASON_BLACKHOLE = 12,
    REACH_REASON_UNREACHABLE_ROUTE = 13,
    /* Nothing carries the tunnel. */
    REACH_REASON_TUNNEL_WITHOUT_UNDERLAY = 14,
    /* The host's name has no address. */
    REACH_REASON_UNRESOLVED = 15,
    REACH_REASON_NOT_MONITORING = 16,
    REACH_REASON_KERNEL_REFUSED = 17,
    /* A later service's reason: not usable, unless the report is online. */
    REACH_REASON_OTHER = 127
} reach_reason;

/* Whether the next router answers (ARP, neighbour discovery), as far as the kernel knows. */
typedef enum reach_router {
    REACH_ROUTER_UNKNOWN = 0,
    REACH_ROUTER_ANSWERS = 1,
    REACH_ROUTER_SILENT = 2,
    REACH_ROUTER_OTHER = 127
} reach_router;

/* Keeps a report, with its reply. Returns it. */
REACH_API const reach_report *reach_report_ref(const reach_report *report);
/* Releases a report. NULL is allowed. */
REACH_API void reach_report_unref(const reach_report *report);
/* The report's JSON, as reach_reply_json(). */
REACH_API const char *reach_report_json(const reach_report *report, size_t *length);
/* All members, for those without a function; see docs/cli.md for their meaning. */
REACH_API const reach_value *reach_report_value(const reach_report *report);

/* The status: for showing it to people. A loss changes it after 500 ms. */
REACH_API reach_status reach_report_status(const reach_report *report);
/* Whether the path is usable at this instant: for gating work. A loss changes it at once. */
REACH_API bool reach_report_is_online(const reach_report *report);
/*
 * Since when the status holds, in milliseconds since 1970 in UTC, where the service has seen it begin; false,
 * and *unix_ms as it was, otherwise.
 */
REACH_API bool reach_report_since(const reach_report *report, int64_t *unix_ms);
/*
 * The reason as a sentence for people, "eth0: no carrier"; may change with any release. "" if there is none.
 */
REACH_API const char *reach_report_reason(const reach_report *report);
/* The reason for programs. */
REACH_API reach_reason reach_report_reason_code(const reach_report *report);
/* The interface in use, or NULL. */
REACH_API const char *reach_report_interface(const reach_report *report);
/* The kind of the interface in use. */
REACH_API reach_medium reach_report_medium(const reach_report *report);
/* The address that connections get, or NULL. */
REACH_API const char *reach_report_source(const reach_report *report);
/* The next router, or NULL. */
REACH_API const char *reach_report_gateway(const reach_report *report);
/* The name of the Wi-Fi network that carries the path, or NULL. Any text: show it with care. */
REACH_API const char *reach_report_ssid(const reach_report *report);
/* Its signal in dBm (negative); 0 if it is not known. */
REACH_API int reach_report_signal_dbm(const reach_report *report);
/* Whether the traffic of the path costs: metered is yes or guessed so, or the modem roams. */
REACH_API bool reach_report_is_expensive(const reach_report *report);
REACH_API reach_metered reach_report_metered(const reach_report *report);
/* Whether the modem is in another provider's network. */
REACH_API bool reach_report_is_roaming(const reach_report *report);
/* Whether data is to be saved, by the service's configuration. */
REACH_API bool reach_report_is_constrained(const reach_report *report);
/* Whether the interface in use is a tunnel. */
REACH_API bool reach_report_is_tunnel(const reach_report *report);
/* What carries the tunnel, or NULL. */
REACH_API const char *reach_report_underlay(const reach_report *report);
/* Whether there is a path in this family. */
REACH_API bool reach_report_has_ipv4(const reach_report *report);
REACH_API bool reach_report_has_ipv6(const reach_report *report);
/*
 * Grows when connections that were made before should not be trusted any more; begins anew with the service.
 */
REACH_API int64_t reach_report_generation(const reach_report *report);
/* An interface with a path of its own while that of the kernel's choice is dead, or NULL. */
REACH_API const char *reach_report_alternative(const reach_report *report);
/* Whether the kernel did not answer the last question, so that the report is older than it should be. */
REACH_API bool reach_report_is_stale(const reach_report *report);
/* What is behind the path. */
REACH_API reach_internet reach_report_internet(const reach_report *report);
/* Which line is dead, for how long, and what transfers use instead; a sentence, or NULL. */
REACH_API const char *reach_report_internet_sentence(const reach_report *report);
/* The page to sign in at, or NULL. It comes from the network: open it in a browser only. */
REACH_API const char *reach_report_portal(const reach_report *report);
/* The host that was asked about, or NULL. */
REACH_API const char *reach_report_host(const reach_report *report);
/* In a monitor's event: the status before; REACH_STATUS_UNKNOWN if there was none. */
REACH_API reach_status reach_report_previous(const reach_report *report);

/* The interfaces but loopback. */
REACH_API size_t reach_report_link_count(const reach_report *report);
/* NULL beyond the last. */
REACH_API const reach_link *reach_report_link(const reach_report *report, size_t index);

/* One interface, with the meanings of the report's functions of the same names. */
REACH_API const char *reach_link_name(const reach_link *link);
/* if_nametoindex(3) */
REACH_API int reach_link_index(const reach_link *link);
REACH_API reach_medium reach_link_medium(const reach_link *link);
/* Whether it is in use or could be. */
REACH_API bool reach_link_is_online(const reach_link *link);
REACH_API const char *reach_link_reason(const reach_link *link);
REACH_API reach_reason reach_link_reason_code(const reach_link *link);
/* "192.0.2.2/24"; NULL beyond the last. */
REACH_API const char *reach_link_address(const reach_link *link, size_t index);
REACH_API size_t reach_link_address_count(const reach_link *link);
REACH_API const char *reach_link_gateway(const reach_link *link);
REACH_API reach_metered reach_link_metered(const reach_link *link);
REACH_API bool reach_link_is_roaming(const reach_link *link);
REACH_API bool reach_link_is_constrained(const reach_link *link);
REACH_API reach_internet reach_link_internet(const reach_link *link);
REACH_API bool reach_link_internet_since(const reach_link *link, int64_t *unix_ms);
/* The evidence, "no answer in 10 s"; or NULL. */
REACH_API const char *reach_link_internet_reason(const reach_link *link);
REACH_API reach_router reach_link_router(const reach_link *link);
REACH_API const char *reach_link_portal(const reach_link *link);
/* All members, for those without a function. */
REACH_API const reach_value *reach_link_value(const reach_link *link);

/* Of reach_client_explain(): the questions to the kernel. */
REACH_API size_t reach_report_step_count(const reach_report *report);
/* NULL beyond the last. */
REACH_API const reach_step *reach_report_step(const reach_report *report, size_t index);
/* The question, its answer, and what follows; "" if there is none. */
REACH_API const char *reach_step_question(const reach_step *step);
REACH_API const char *reach_step_answer(const reach_step *step);
REACH_API const char *reach_step_conclusion(const reach_step *step);

/* -------------------------------------------------------------------------------------------- JSON values */

typedef enum reach_type {
    /* There is no such value. */
    REACH_TYPE_NONE = 0,
    REACH_TYPE_NULL = 1,
    REACH_TYPE_BOOL = 2,
    REACH_TYPE_INTEGER = 3,
    /* With a fraction or an exponent, or beyond 64 bits. */
    REACH_TYPE_NUMBER = 4,
    REACH_TYPE_STRING = 5,
    REACH_TYPE_ARRAY = 6,
    REACH_TYPE_OBJECT = 7
} reach_type;

/* What kind of value it is. */
REACH_API reach_type reach_value_type(const reach_value *value);
/* false if it is none. */
REACH_API bool reach_value_bool(const reach_value *value);
/* 0 if it is none; fractions are cut off, and what is beyond 64 bits becomes the nearest. */
REACH_API int64_t reach_value_integer(const reach_value *value);
/* 0 if it is none. */
REACH_API double reach_value_number(const reach_value *value);
/*
 * NULL if it is none; length may be NULL. A NUL inside (\u0000) is replaced by U+FFFD, so that the text is
 * whole.
 */
REACH_API const char *reach_value_string(const reach_value *value, size_t *length);
/* The number of elements or members; 0 for others. */
REACH_API size_t reach_value_count(const reach_value *value);
/* An element of an array, or the value of a member of an object; NULL beyond the last. */
REACH_API const reach_value *reach_value_at(const reach_value *value, size_t index);
/* The name of a member; NULL beyond the last. */
REACH_API const char *reach_value_key(const reach_value *value, size_t index);
/* The member of an object; NULL if there is none. Of several with one name, the last. */
REACH_API const reach_value *reach_value_member(const reach_value *value, const char *name);

/* -------------------------------------------------------------------------------------- without a service */

/*
 * Asks the kernel once, in this process, without the service: for programs that want an answer where none
 * runs. Reads by rtnetlink(7); needs no privilege, starts nothing and sends no packet. Takes microseconds;
 * waits for the kernel one second at most.
 *
 * It is the core of what the service decides, for this process's network namespace: one route lookup for each
 * family (to an address in general use, so that policy rules, metrics and nexthop objects count as the kernel
 * counts them), a source address that is not link-local, and the state of the output interface (switched on,
 * carrier).
 *
 * What it is not: it follows nothing, so a change is seen by the next call alone. It does not know what
 * carries a tunnel (a tunnel that is up counts; "tunnelUnchecked" is true), whether the ports of a bridge are
 * alive beyond the bridge's own carrier, split default routes, other uplinks, what traffic costs beyond the
 * kind of the interface, since when something holds, or what is behind the router. Links are not listed. A
 * loss is reported at once, without the 500 ms.
 *
 * report: a report with the members status, online, reason, reasonCode, interface, medium, source, gateway,
 * families, tunnel, tunnelUnchecked, metric, partial, and "direct": true; for reach_report_unref().
 *
 * Returns 0, also if the network is unreachable; REACH_ERROR_SYSTEM with errno set if netlink is refused
 * (EPERM, EAFNOSUPPORT in sandboxes) or does not answer (ETIMEDOUT), REACH_ERROR_NO_MEMORY.
 */
REACH_API int reach_client_status_direct(const reach_report **report);

#ifdef __cplusplus
}
#endif

#endif
