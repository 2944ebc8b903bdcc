/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out what a line decides: one connection with its socket. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client.h"
#include "errors.h"
#include "json-write.h"

struct peer *peer_new(const char *method, const char *parameters, size_t length)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer) return NULL;
    peer->fd = -1;
    peer->replies_end = &peer->replies;
    peer->method = strdup(method);
    peer->parameters = malloc(length + 1);
    if (!peer->method || !peer->parameters) {
        peer_free(peer);
        return NULL;
    }
    memcpy(peer->parameters, parameters, length);
    peer->parameters[length] = 0;
    return peer;
}

static void disconnect(struct peer *peer)
{
    /* Closing removes it from the epoll set; a child of fork(2) must not do that by epoll_ctl(2). */
    if (peer->fd >= 0) close(peer->fd);
    peer->fd = -1;
    peer->sent = 0;
    bytes_free(&peer->out);
    frame_free(&peer->in);
}

void peer_free(struct peer *peer)
{
    if (!peer) return;
    disconnect(peer);
    while (peer->replies) {
        reach_reply *next = peer->replies->next;
        reach_reply_unref(peer->replies);
        peer->replies = next;
    }
    reach_reply_unref(peer->reply);
    free(peer->method);
    free(peer->parameters);
    free(peer);
}

/* Why a call or a monitor has failed, with what was tried before. */
static reach_reply *reply_for(const struct reach_client *client, const struct peer *peer, int error)
{
    if (error != REACH_ERROR_TIMED_OUT || !peer->line.failure || peer->line.failure == error) {
        return reply_failed(error, peer->number, client->socket);
    }
    char sentence[512];
    snprintf(
        sentence, sizeof sentence, "%s: %s; %s", client->socket, reach_error_text(error),
        reach_error_text(peer->line.failure));
    return reply_failed_because(error, sentence);
}

static void end_call(struct reach_client *client, struct peer *peer, reach_reply *reply)
{
    struct peer **link = &client->calls;
    while (*link && *link != peer) link = &(*link)->next;
    if (*link) *link = peer->next;
    peer->next = NULL;
    peer->reply = reply;
    *client->ended_end = peer;
    client->ended_end = &peer->next;
    disconnect(peer);
}

static void queue_event(struct reach_client *client, reach_reply *reply, reach_event event)
{
    if (reply == reply_without_memory()) {
        /* All clients share it: it is in no queue. */
        client->lacks_memory = true;
        return;
    }
    reply->event = event;
    reply->next = NULL;
    *client->events_end = reply;
    client->events_end = &reply->next;
}

static void forget_report(struct reach_client *client)
{
    reach_reply_unref(client->latest);
    client->latest = NULL;
}

static void connect_now(struct reach_client *client, struct peer *peer);

/* Carries out a decision; reply, if there is one, is what the service has said, and is used up. */
static void carry_out(
    struct reach_client *client, struct peer *peer, struct line_step step, int number, reach_reply *reply)
{
    peer->number = number;
    switch (step.action) {
    case LINE_CONNECT: connect_now(client, peer); break;
    case LINE_AWAY:
    case LINE_RETRY:
        disconnect(peer);
        if (peer == client->monitor) forget_report(client);
        if (step.action == LINE_RETRY) break;
        queue_event(client, reply ? reply : reply_for(client, peer, step.error), REACH_EVENT_AWAY);
        return;
    case LINE_FAIL: end_call(client, peer, reply ? reply : reply_for(client, peer, step.error)); return;
    case LINE_NOTHING: break;
    }
    reach_reply_unref(reply);
}

static void lose(struct reach_client *client, struct peer *peer, int error, int number, reach_reply *reply)
{
    carry_out(client, peer, line_lost(&peer->line, error, client_now()), number, reply);
}

/* The message of the call, with the rest of the time limit. */
static void write_call(struct peer *peer)
{
    struct bytes *out = &peer->out;
    json_open(out, NULL, '{');
    json_put_text(out, "method", peer->method);
    if (peer->sends_timeout && peer->line.limit != LINE_NEVER) {
        int64_t rest = peer->line.limit - ANSWER_SLACK - client_now();
        json_open(out, "parameters", '{');
        json_put_seconds(out, "timeout", rest > 0 ? rest : 0);
        /* The members behind the bracket of the given object. */
        if (peer->parameters[1] != '}') bytes_append(out, ",", 1);
        bytes_append_text(out, peer->parameters + 1);
    } else {
        json_put_raw(out, "parameters", peer->parameters, strlen(peer->parameters));
    }
    if (peer->line.kind == LINE_MONITOR || peer->wants_more) json_put_flag(out, "more", true);
    json_close(out, '}');
    bytes_append(out, "", 1);
}

/* Sends what fits; the rest when the socket is writable. */
static void send_rest(struct reach_client *client, struct peer *peer)
{
    while (peer->sent < peer->out.count) {
        ssize_t count =
            send(peer->fd, peer->out.data + peer->sent, peer->out.count - peer->sent, MSG_NOSIGNAL);
        if (count >= 0) {
            peer->sent += (size_t)count;
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            /* The service has closed; what it said before is still to be read, and its end as well. */
            peer->sent = peer->out.count;
        }
    }
    bool wants_write = peer->sent < peer->out.count;
    if (!wants_write) {
        bytes_free(&peer->out);
        peer->sent = 0;
    }
    if (wants_write == peer->wants_write) return;
    struct epoll_event event = {.events = EPOLLIN | (wants_write ? EPOLLOUT : 0), .data.u64 = peer->id};
    peer->wants_write = wants_write;
    epoll_ctl(client->epoll, EPOLL_CTL_MOD, peer->fd, &event);
}

/* A connected socket; -1 with a reach_error and an errno otherwise. */
static int connected_socket(const char *path, int *error, int *number)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0) {
        *error = REACH_ERROR_NO_SERVICE;
        return -1;
    }
    memcpy(address.sun_path, path, length);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
    if (path[0] == '@') {
        address.sun_path[0] = 0;
        size--;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        *number = errno;
        *error = REACH_ERROR_SYSTEM;
        return -1;
    }
    /* A Unix socket is connected at once or not at all: EAGAIN means that the queue is full. */
    if (connect(fd, (struct sockaddr *)&address, size) == 0) return fd;
    *number = errno;
    *error = error_of_connect(*number);
    close(fd);
    return -1;
}

static void connect_now(struct reach_client *client, struct peer *peer)
{
    int error = REACH_ERROR_SYSTEM, number = 0;
    peer->fd = connected_socket(client->socket, &error, &number);
    if (peer->fd >= 0) {
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = peer->id};
        peer->wants_write = false;
        if (epoll_ctl(client->epoll, EPOLL_CTL_ADD, peer->fd, &event) == 0) {
            line_opened(&peer->line, client_now());
            write_call(peer);
            if (peer->out.failed) lose(client, peer, REACH_ERROR_NO_MEMORY, ENOMEM, NULL);
            else send_rest(client, peer);
            return;
        }
        number = errno;
        disconnect(peer);
    }
    carry_out(client, peer, line_refused(&peer->line, error, client_now()), number, NULL);
}

static void handle_monitor(struct reach_client *client, struct peer *peer, reach_reply *reply)
{
    if (reply->error) {
        lose(client, peer, reply->error, 0, reply);
    } else if (!reach_reply_report(reply)) {
        reach_reply_unref(reply);
        lose(client, peer, REACH_ERROR_PROTOCOL, 0, NULL);
    } else {
        line_answered(&peer->line);
        bool continues = reply->continues;
        forget_report(client);
        client->latest = reply;
        reach_reply_ref(reply);
        queue_event(client, reply, reply_event(reply));
        if (!continues) lose(client, peer, REACH_ERROR_DISCONNECTED, 0, NULL);
    }
}

static void handle_message(struct reach_client *client, struct peer *peer, const char *message, size_t length)
{
    int error;
    reach_reply *reply = reply_read(message, length, &error);
    if (!reply) {
        lose(client, peer, error, error == REACH_ERROR_NO_MEMORY ? ENOMEM : 0, NULL);
    } else if (peer == client->monitor) {
        handle_monitor(client, peer, reply);
    } else if (reply->error == REACH_ERROR_UNAVAILABLE && line_is_too_early(&peer->line, client_now())) {
        lose(client, peer, reply->error, 0, reply);
    } else if (peer->wants_more && reply->continues && !reply->error) {
        reply->next = NULL;
        *peer->replies_end = reply;
        peer->replies_end = &reply->next;
    } else {
        line_answered(&peer->line);
        end_call(client, peer, reply);
    }
}

/* Handles all complete messages; false if the connection has ended by one. */
static bool handle_messages(struct reach_client *client, struct peer *peer)
{
    const char *message;
    size_t length;
    while (peer->fd >= 0) {
        switch (frame_next(&peer->in, &message, &length)) {
        case FRAME_INCOMPLETE: return true;
        case FRAME_TOO_LONG: lose(client, peer, REACH_ERROR_PROTOCOL, EMSGSIZE, NULL); return false;
        case FRAME_MESSAGE: handle_message(client, peer, message, length); break;
        }
    }
    return false;
}

void peer_ready(struct reach_client *client, struct peer *peer, uint32_t events)
{
    char piece[16384];
    if (events & EPOLLOUT) send_rest(client, peer);
    /* A busy service does not keep others from their turn. */
    for (int i = 0; i < 8; i++) {
        ssize_t count = recv(peer->fd, piece, sizeof piece, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        if (count <= 0) {
            lose(client, peer, REACH_ERROR_DISCONNECTED, count < 0 ? errno : 0, NULL);
            return;
        }
        if (!frame_add(&peer->in, piece, (size_t)count)) {
            lose(client, peer, REACH_ERROR_NO_MEMORY, ENOMEM, NULL);
            return;
        }
        if (!handle_messages(client, peer)) return;
        if ((size_t)count < sizeof piece) return;
    }
}

void peer_tick(struct reach_client *client, struct peer *peer)
{
    carry_out(client, peer, line_tick(&peer->line, client_now()), peer->number, NULL);
}
