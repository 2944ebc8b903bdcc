/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client consists of. The lock guards all of it but what is set when it is made; no callback is called
 * with the lock held.
 */
#ifndef REACH_CLIENT_INTERNAL_H
#define REACH_CLIENT_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>

#include "bytes.h"
#include "frame.h"
#include "line.h"
#include "reply.h"

/* How much longer than a time limit the service's own answer is waited for: it has the reason. */
#define ANSWER_SLACK 250

/* One connection: a call's, or the monitor's. */
struct peer {
    struct peer *next;
    reach_call id;
    struct line line;
    /* -1 without a connection. */
    int fd;
    bool wants_write;
    /* errno of the last failure. */
    int number;

    /* The call: its method, its parameters as a JSON object, and whether the time limit is one of them. */
    char *method;
    char *parameters;
    bool sends_timeout;

    /* What is being sent, and how much of it was. */
    struct bytes out;
    size_t sent;
    struct frame in;

    /* Many replies to one call: those whose callbacks are due. */
    bool wants_more;
    reach_reply *replies, **replies_end;

    reach_call_callback callback;
    reach_monitor_callback changed;
    void *data;
    /* Of a call that has ended. */
    reach_reply *reply;
};

/* The folder in which the socket, or the next folder on the way to it, will appear (inotify(7)). */
struct watch {
    /* -1 without. */
    int fd;
    /* The name that is waited for. */
    char name[256];
};

struct reach_client {
    pthread_mutex_t lock;
    /* Signalled when a callback has returned, or a turn has ended. */
    pthread_cond_t returned;
    /* A child of fork(2) must not use it. */
    pid_t process;
    char *socket;
    int epoll, timer;
    /* What the timer is set to. */
    int64_t armed;
    struct watch watch;
    reach_call last_id;

    struct peer *calls;
    /* Calls whose callbacks are due. */
    struct peer *ended, **ended_end;

    struct peer *monitor;
    /* Replies for which the monitor's callback is due. */
    reach_reply *events, **events_end;
    /* Another event is due, for which there was no memory. */
    bool lacks_memory;
    /* The newest report; NULL while the service is away. */
    reach_reply *latest;

    /* A thread is in a turn, and runs the callback of this peer. */
    bool is_turning;
    pthread_t turner;
    reach_call running;
    /* To be freed by the thread that is in a turn. */
    bool is_freed;
    bool has_thread, is_stopping;
    pthread_t thread;
};

/* Milliseconds of CLOCK_MONOTONIC. */
int64_t client_now(void);
/* Sets the timer to the next time limit. */
void client_arm(struct reach_client *client);
/* Frees everything. */
void client_destroy(struct reach_client *client);
/* What reach_client_dispatch() does; *is_gone where a callback has freed the client. */
int client_turn(struct reach_client *client, bool *is_gone);
/* Waits, with the lock, for the callback of a peer that runs on another thread. */
void client_await(struct reach_client *client, reach_call id);

/* A peer for a call; NULL without memory. The method and the parameters are copied. */
struct peer *peer_new(const char *method, const char *parameters, size_t length);
void peer_free(struct peer *peer);
/* Handles what epoll(7) reports for its socket. */
void peer_ready(struct reach_client *client, struct peer *peer, uint32_t events);
/* Does what time demands. */
void peer_tick(struct reach_client *client, struct peer *peer);

/* Begins or ends watching, as the lines want it. */
void watch_update(struct reach_client *client);
/* Something has happened in the folder. */
void watch_ready(struct reach_client *client);
void watch_close(struct watch *watch);

#endif
