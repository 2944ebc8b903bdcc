/* SPDX-License-Identifier: Apache-2.0 */
#include "lab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int descriptors_before;

int lab_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void lab_open(struct lab *lab)
{
    memset(lab, 0, sizeof *lab);
    descriptors_before = lab_descriptors();
    lab->listener = -1;
    const char *temporary = getenv("TMPDIR");
    /* The path of a socket has 108 bytes at most. */
    if (!temporary || strlen(temporary) > 40) temporary = "/tmp";
    snprintf(lab->folder, sizeof lab->folder, "%.40s/lab.XXXXXX", temporary);
    EXPECT(mkdtemp(lab->folder) != NULL);
    chmod(lab->folder, 0755);
    snprintf(lab->socket, sizeof lab->socket, "%s/socket", lab->folder);
    EXPECT_INT(reach_client_new(&lab->client, lab->socket), 0);
}

void lab_close(struct lab *lab)
{
    reach_client_free(lab->client);
    for (int i = 0; i < lab->event_count; i++) reach_reply_unref(lab->events[i].reply);
    for (int i = 0; i < lab->answer_count; i++) reach_reply_unref(lab->answers[i].reply);
    lab_end_service(lab);
    EXPECT_INT(rmdir(lab->folder), 0);
    EXPECT_INT(lab_descriptors(), descriptors_before);
}

void lab_listen(struct lab *lab)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, lab->socket);
    lab->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    EXPECT_INT(bind(lab->listener, (struct sockaddr *)&address, sizeof address), 0);
    EXPECT_INT(listen(lab->listener, 16), 0);
}

void lab_end_service(struct lab *lab)
{
    if (lab->listener >= 0) close(lab->listener);
    lab->listener = -1;
    unlink(lab->socket);
}

/* Runs the client until this descriptor has something; 20 s are more than anything here takes. */
static void run_until_ready(struct lab *lab, int descriptor, short events)
{
    long long end = now_ms() + 20000;
    for (;;) {
        struct pollfd ready[2] = {
            {.fd = descriptor, .events = events}, {.fd = reach_client_fd(lab->client), .events = POLLIN}};
        EXPECT(poll(ready, 2, 20000) > 0 && now_ms() < end);
        if (ready[1].revents) EXPECT(reach_client_dispatch(lab->client) >= 0);
        if (ready[0].revents) return;
    }
}

int lab_accept(struct lab *lab)
{
    run_until_ready(lab, lab->listener, POLLIN);
    int connection = accept4(lab->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    EXPECT(connection >= 0);
    return connection;
}

const char *lab_call(struct lab *lab, int connection)
{
    static char call[2 << 20];
    size_t count = 0;
    while (count == 0 || call[count - 1] != 0) {
        run_until_ready(lab, connection, POLLIN);
        ssize_t more = recv(connection, call + count, sizeof call - count, 0);
        EXPECT(more > 0);
        count += (size_t)more;
    }
    return call;
}

int lab_serve(struct lab *lab, const char *part)
{
    int connection = lab_accept(lab);
    EXPECT_HAS(lab_call(lab, connection), part);
    return connection;
}

void lab_send(int connection, const char *message)
{
    ssize_t length = (ssize_t)strlen(message) + 1;
    EXPECT_INT(send(connection, message, (size_t)length, MSG_NOSIGNAL), length);
}

void lab_expect_closed(struct lab *lab, int connection)
{
    char rest[4096];
    ssize_t count;
    do {
        run_until_ready(lab, connection, POLLIN);
        count = recv(connection, rest, sizeof rest, 0);
    } while (count > 0);
    close(connection);
}

static void run_until(struct lab *lab, const int *value, int due)
{
    long long end = now_ms() + 20000;
    while (*value < due) {
        EXPECT(reach_client_run_once(lab->client, 20000) >= 0);
        if (now_ms() > end) test_fail(__FILE__, __LINE__, "waited in vain: %d instead of %d", *value, due);
    }
    EXPECT_INT(*value, due);
}

void lab_await_events(struct lab *lab, int count) { run_until(lab, &lab->event_count, count); }

void lab_await_answers(struct lab *lab, int count) { run_until(lab, &lab->answer_count, count); }

void lab_idle(struct lab *lab, int milliseconds)
{
    int events = lab->event_count, answers = lab->answer_count;
    long long end = now_ms() + milliseconds, now;
    while ((now = now_ms()) < end) EXPECT(reach_client_run_once(lab->client, (int)(end - now)) >= 0);
    EXPECT_INT(lab->event_count, events);
    EXPECT_INT(lab->answer_count, answers);
}

static void record(struct seen *seen, const reach_reply *reply)
{
    seen->error = reach_reply_error(reply);
    seen->status = reach_report_status(reach_reply_report(reply));
    seen->reply = reach_reply_ref(reply);
}

void lab_changed(reach_client *client, reach_event event, const reach_reply *reply, void *data)
{
    struct lab *lab = data;
    EXPECT(client == lab->client && lab->event_count < 64);
    lab->events[lab->event_count].event = event;
    record(&lab->events[lab->event_count], reply);
    lab->event_count++;
}

void lab_answered(reach_client *client, reach_call call, const reach_reply *reply, void *data)
{
    struct lab *lab = data;
    EXPECT(client == lab->client && lab->answer_count < 64);
    lab->answers[lab->answer_count].call = call;
    record(&lab->answers[lab->answer_count], reply);
    lab->answer_count++;
}
