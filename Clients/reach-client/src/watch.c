/* SPDX-License-Identifier: Apache-2.0 */
/* Watches for the socket of an absent service, so that nothing wakes up meanwhile. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "client.h"

void watch_close(struct watch *watch)
{
    if (watch->fd >= 0) close(watch->fd);
    watch->fd = -1;
}

/* Cuts the last name off a path; false if it has none. "socket" lies in ".", "/socket" in "/". */
static bool split(char *path, char *name, size_t size)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') path[--length] = 0;
    char *slash = strrchr(path, '/');
    const char *last = slash ? slash + 1 : path;
    if (!*last || strcmp(path, ".") == 0) return false;
    snprintf(name, size, "%s", last);
    if (slash == path) path[1] = 0;
    else if (slash) *slash = 0;
    else strcpy(path, ".");
    return true;
}

/* Watches the deepest folder on the way that exists. */
static bool watch_folder(struct watch *watch, const char *socket)
{
    const uint32_t mask = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
    /* A socket's path has 108 bytes at most. */
    char folder[128];
    snprintf(folder, sizeof folder, "%s", socket);
    while (split(folder, watch->name, sizeof watch->name)) {
        int number = inotify_add_watch(watch->fd, folder, mask);
        if (number < 0) continue;
        /* The next folder may have appeared before it was watched for. */
        char next[sizeof folder + sizeof watch->name];
        snprintf(next, sizeof next, "%s/%s", folder, watch->name);
        if (strlen(next) >= strlen(socket) || access(next, F_OK) != 0) return true;
        inotify_rm_watch(watch->fd, number);
        snprintf(folder, sizeof folder, "%s", socket);
    }
    return false;
}

static void open_watch(struct reach_client *client)
{
    struct watch *watch = &client->watch;
    if (!client->socket[0] || client->socket[0] == '@') return;
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->fd < 0) return;
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = UINT64_MAX};
    if (!watch_folder(watch, client->socket) ||
        epoll_ctl(client->epoll, EPOLL_CTL_ADD, watch->fd, &event) != 0) {
        watch_close(watch);
    }
}

/* Calls a function for each connection. */
static void for_lines(
    struct reach_client *client, void (*function)(struct line *line, int64_t now, void *data), void *data)
{
    int64_t now = client_now();
    if (client->monitor) function(&client->monitor->line, now, data);
    for (struct peer *peer = client->calls; peer; peer = peer->next) function(&peer->line, now, data);
}

static void add_wish(struct line *line, int64_t now, void *data)
{
    (void)now;
    *(bool *)data |= line_wants_watch(line);
}

static void hurry(struct line *line, int64_t now, void *data)
{
    (void)data;
    if (line_wants_watch(line)) line_hurry(line, now);
}

static void set_watched(struct line *line, int64_t now, void *data)
{
    (void)now;
    line->watched = *(bool *)data;
}

void watch_update(struct reach_client *client)
{
    bool is_wanted = false, is_open = client->watch.fd >= 0;
    for_lines(client, add_wish, &is_wanted);
    if (is_wanted && !is_open) {
        open_watch(client);
        is_open = client->watch.fd >= 0;
        /* The socket may have appeared before its folder was watched. */
        if (is_open) for_lines(client, hurry, NULL);
    } else if (!is_wanted) {
        watch_close(&client->watch);
        is_open = false;
    }
    /* Where no service is to be asked, none will come. */
    if (!client->socket[0]) is_open = true;
    for_lines(client, set_watched, &is_open);
}

void watch_ready(struct reach_client *client)
{
    char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    bool has_changed = false;
    for (;;) {
        ssize_t count = read(client->watch.fd, buffer, sizeof buffer);
        if (count <= 0) break;
        for (char *at = buffer; at < buffer + count;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            bool is_named = event->len > 0 && strcmp(event->name, client->watch.name) == 0;
            has_changed |=
                is_named || event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_Q_OVERFLOW);
            at += sizeof *event + event->len;
        }
    }
    if (!has_changed) return;
    /* Another folder may be the deepest now: it is found by the next update. */
    watch_close(&client->watch);
    for_lines(client, hurry, NULL);
}
