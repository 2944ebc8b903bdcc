/* SPDX-License-Identifier: Apache-2.0 */
/* One turn of a client: what epoll(7) reports, what time demands, then the callbacks. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>

#include "client.h"

int64_t client_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t next_deadline(const struct reach_client *client)
{
    int64_t next = client->monitor ? line_deadline(&client->monitor->line) : LINE_NEVER;
    for (const struct peer *peer = client->calls; peer; peer = peer->next) {
        int64_t deadline = line_deadline(&peer->line);
        if (deadline < next) next = deadline;
        if (peer->replies) next = 0;
    }
    /* Callbacks are due where a turn was left early. */
    if (client->ended || client->events || client->lacks_memory || client->is_stopping) next = 0;
    return next;
}

void client_arm(struct reach_client *client)
{
    int64_t next = next_deadline(client);
    if (next == client->armed) return;
    struct itimerspec time = {0};
    if (next != LINE_NEVER) {
        time.it_value.tv_sec = (time_t)(next / 1000);
        time.it_value.tv_nsec = (long)(next % 1000) * 1000000;
        /* Zero would disarm it. */
        if (next == 0) time.it_value.tv_nsec = 1;
    }
    /* Setting it takes back that it has expired. */
    timerfd_settime(client->timer, TFD_TIMER_ABSTIME, &time, NULL);
    client->armed = next;
}

int reach_client_timeout(const reach_client *client)
{
    reach_client *own = (reach_client *)client;
    if (!client) return -1;
    pthread_mutex_lock(&own->lock);
    int64_t next = next_deadline(client), now = client_now();
    pthread_mutex_unlock(&own->lock);
    if (next == LINE_NEVER) return -1;
    if (next <= now) return 0;
    return next - now > INT32_MAX ? INT32_MAX : (int)(next - now);
}

static struct peer *find_peer(struct reach_client *client, reach_call id)
{
    if (client->monitor && client->monitor->id == id) return client->monitor;
    struct peer *peer = client->calls;
    while (peer && peer->id != id) peer = peer->next;
    return peer;
}

static void handle_ready(struct reach_client *client)
{
    struct epoll_event events[32];
    int count = epoll_wait(client->epoll, events, 32, 0);
    for (int i = 0; i < count; i++) {
        uint64_t id = events[i].data.u64;
        if (id == 0) {
            /* The timer has expired: it is set anew. */
            client->armed = -1;
        } else if (id == UINT64_MAX) {
            if (client->watch.fd >= 0) watch_ready(client);
        } else {
            struct peer *peer = find_peer(client, id);
            if (peer && peer->fd >= 0) peer_ready(client, peer, events[i].events);
        }
    }
}

static void handle_time(struct reach_client *client)
{
    if (client->monitor) peer_tick(client, client->monitor);
    struct peer *next;
    for (struct peer *peer = client->calls; peer; peer = next) {
        next = peer->next;
        peer_tick(client, peer);
    }
}

static reach_reply *pop_event(struct reach_client *client)
{
    reach_reply *reply = client->events;
    if (!reply && client->lacks_memory) {
        client->lacks_memory = false;
        return reply_without_memory();
    }
    if (!reply) return NULL;
    client->events = reply->next;
    if (!client->events) client->events_end = &client->events;
    return reply;
}

static struct peer *pop_ended(struct reach_client *client)
{
    struct peer *peer = client->ended;
    if (!peer) return NULL;
    client->ended = peer->next;
    if (!client->ended) client->ended_end = &client->ended;
    return peer;
}

/* A call with a reply whose callback is due, before that of its end. */
static struct peer *find_answered(struct reach_client *client)
{
    struct peer *lists[] = {client->ended, client->calls};
    for (int i = 0; i < 2; i++) {
        for (struct peer *peer = lists[i]; peer; peer = peer->next) {
            if (peer->replies) return peer;
        }
    }
    return NULL;
}

/* Calls the callback of a call for one of its replies; it may end the call. */
static void deliver_reply(struct reach_client *client, struct peer *peer)
{
    reach_reply *reply = peer->replies;
    reach_call_callback callback = peer->callback;
    reach_call id = peer->id;
    void *data = peer->data;
    peer->replies = reply->next;
    if (!peer->replies) peer->replies_end = &peer->replies;
    client->running = id;
    pthread_mutex_unlock(&client->lock);
    callback(client, id, reply, data);
    reach_reply_unref(reply);
}

/* Calls one callback, without the lock; false if none is due. */
static bool deliver(struct reach_client *client)
{
    reach_reply *reply = pop_event(client);
    struct peer *answered = reply ? NULL : find_answered(client);
    if (answered) {
        deliver_reply(client, answered);
    } else if (reply) {
        struct peer *monitor = client->monitor;
        reach_monitor_callback changed = monitor->changed;
        void *data = monitor->data;
        client->running = monitor->id;
        pthread_mutex_unlock(&client->lock);
        if (changed) changed(client, reply->event, reply, data);
        reach_reply_unref(reply);
    } else {
        struct peer *peer = pop_ended(client);
        if (!peer) return false;
        client->running = peer->id;
        pthread_mutex_unlock(&client->lock);
        peer->callback(client, peer->id, peer->reply, peer->data);
        peer_free(peer);
    }
    pthread_mutex_lock(&client->lock);
    client->running = 0;
    pthread_cond_broadcast(&client->returned);
    return true;
}

int client_turn(struct reach_client *client, bool *is_gone)
{
    int count = 0;
    pthread_mutex_lock(&client->lock);
    if (client->is_turning) {
        bool is_inside = pthread_equal(client->turner, pthread_self());
        pthread_mutex_unlock(&client->lock);
        return is_inside ? REACH_ERROR_INVALID_ARGUMENT : 0;
    }
    client->is_turning = true;
    client->turner = pthread_self();
    handle_ready(client);
    handle_time(client);
    watch_update(client);
    while (!client->is_freed && !client->is_stopping && deliver(client)) count++;
    client->is_turning = false;
    pthread_cond_broadcast(&client->returned);
    *is_gone = client->is_freed;
    if (!client->is_freed) client_arm(client);
    pthread_mutex_unlock(&client->lock);
    if (*is_gone) client_destroy(client);
    return count;
}

void client_await(struct reach_client *client, reach_call id)
{
    while (client->running == id && !pthread_equal(client->turner, pthread_self())) {
        pthread_cond_wait(&client->returned, &client->lock);
    }
}
