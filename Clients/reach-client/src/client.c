/* SPDX-License-Identifier: Apache-2.0 */
/* Clients: made, driven, freed. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "client.h"

#define TEXT(x) #x
#define VERSION(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

const char *reach_client_version(void)
{
    return VERSION(REACH_CLIENT_VERSION_MAJOR, REACH_CLIENT_VERSION_MINOR, REACH_CLIENT_VERSION_PATCH);
}

/* Opens the epoll set with the timer in it. */
static bool open_descriptors(struct reach_client *client)
{
    client->epoll = epoll_create1(EPOLL_CLOEXEC);
    client->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};
    if (client->epoll < 0 || client->timer < 0) return false;
    return epoll_ctl(client->epoll, EPOLL_CTL_ADD, client->timer, &event) == 0;
}

int reach_client_new(reach_client **client, const char *socket)
{
    if (!client) return REACH_ERROR_INVALID_ARGUMENT;
    *client = NULL;
    if (!socket) socket = secure_getenv("REACH_SOCKET");
    if (!socket) socket = REACH_CLIENT_DEFAULT_SOCKET;
    if (strlen(socket) >= sizeof((struct sockaddr_un *)0)->sun_path) return REACH_ERROR_INVALID_ARGUMENT;
    reach_client *made = calloc(1, sizeof *made);
    if (!made) return REACH_ERROR_NO_MEMORY;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->returned, NULL);
    made->process = getpid();
    made->epoll = made->timer = made->watch.fd = -1;
    made->armed = LINE_NEVER;
    made->ended_end = &made->ended;
    made->events_end = &made->events;
    made->socket = strdup(socket);
    if (made->socket && open_descriptors(made)) {
        *client = made;
        return 0;
    }
    int number = errno, error = made->socket ? REACH_ERROR_SYSTEM : REACH_ERROR_NO_MEMORY;
    client_destroy(made);
    errno = number;
    return error;
}

static void free_peers(struct peer *peer)
{
    while (peer) {
        struct peer *next = peer->next;
        peer_free(peer);
        peer = next;
    }
}

void client_destroy(struct reach_client *client)
{
    free_peers(client->calls);
    free_peers(client->ended);
    peer_free(client->monitor);
    for (reach_reply *reply = client->events; reply;) {
        reach_reply *next = reply->next;
        reach_reply_unref(reply);
        reply = next;
    }
    reach_reply_unref(client->latest);
    watch_close(&client->watch);
    if (client->timer >= 0) close(client->timer);
    if (client->epoll >= 0) close(client->epoll);
    free(client->socket);
    /* In a child of fork(2) another thread may have held it. */
    if (client->process == getpid()) {
        pthread_cond_destroy(&client->returned);
        pthread_mutex_destroy(&client->lock);
    }
    free(client);
}

void reach_client_free(reach_client *client)
{
    if (!client) return;
    if (client->process != getpid()) {
        client_destroy(client);
        return;
    }
    pthread_mutex_lock(&client->lock);
    bool is_inside = client->is_turning && pthread_equal(client->turner, pthread_self());
    if (is_inside) {
        /* The turn frees it when the callback has returned. */
        client->is_freed = true;
        if (client->has_thread) pthread_detach(client->thread);
        pthread_mutex_unlock(&client->lock);
        return;
    }
    if (client->has_thread) {
        client->is_stopping = true;
        client_arm(client);
        pthread_mutex_unlock(&client->lock);
        pthread_join(client->thread, NULL);
    } else {
        while (client->is_turning) pthread_cond_wait(&client->returned, &client->lock);
        pthread_mutex_unlock(&client->lock);
    }
    client_destroy(client);
}

const char *reach_client_socket(const reach_client *client) { return client ? client->socket : ""; }

int reach_client_fd(const reach_client *client) { return client ? client->epoll : -1; }

int reach_client_dispatch(reach_client *client)
{
    bool is_gone = false;
    if (!client) return REACH_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&client->lock);
    bool has_thread = client->has_thread;
    pthread_mutex_unlock(&client->lock);
    return has_thread ? REACH_ERROR_INVALID_ARGUMENT : client_turn(client, &is_gone);
}

int reach_client_run_once(reach_client *client, int timeout_ms)
{
    if (!client) return REACH_ERROR_INVALID_ARGUMENT;
    struct pollfd descriptor = {.fd = client->epoll, .events = POLLIN};
    int ready = poll(&descriptor, 1, timeout_ms);
    if (ready < 0 && errno != EINTR) return REACH_ERROR_SYSTEM;
    return ready > 0 ? reach_client_dispatch(client) : 0;
}

static void *run(void *argument)
{
    struct reach_client *client = argument;
    struct pollfd descriptor = {.fd = client->epoll, .events = POLLIN};
    for (;;) {
        bool is_gone = false;
        poll(&descriptor, 1, -1);
        client_turn(client, &is_gone);
        if (is_gone) return NULL;
        pthread_mutex_lock(&client->lock);
        bool is_stopping = client->is_stopping;
        pthread_mutex_unlock(&client->lock);
        if (is_stopping) return NULL;
    }
}

int reach_client_start_thread(reach_client *client)
{
    sigset_t all, former;
    pthread_attr_t attributes;
    if (!client) return REACH_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&client->lock);
    if (client->has_thread || client->is_turning) {
        pthread_mutex_unlock(&client->lock);
        return REACH_ERROR_INVALID_ARGUMENT;
    }
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    /* The thread inherits the mask. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    int number = pthread_create(&client->thread, &attributes, run, client);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    pthread_attr_destroy(&attributes);
    client->has_thread = number == 0;
    pthread_mutex_unlock(&client->lock);
    if (number == 0) return 0;
    errno = number;
    return REACH_ERROR_SYSTEM;
}
