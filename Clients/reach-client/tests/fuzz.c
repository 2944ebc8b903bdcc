/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a service may send, and in which order things may happen. The first byte chooses: replies in pieces,
 * the line's decisions, or a whole client with a service that says the rest of the input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "frame.h"
#include "line.h"
#include "reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : abort())

/* Reads all that a text has, up to its NUL. */
static size_t sum;
static void use(const char *text) { sum += text ? strlen(text) : 0; }

static void walk(const reach_value *value)
{
    size_t length, count = reach_value_count(value);
    int64_t integer = reach_value_integer(value);
    const char *text = reach_value_string(value, &length);
    CHECK(!text || strlen(text) == length);
    sum += (size_t)integer + (size_t)(reach_value_number(value) > 0);
    for (size_t i = 0; i < count; i++) {
        const reach_value *child = reach_value_at(value, i);
        CHECK(child != NULL);
        if (reach_value_type(value) == REACH_TYPE_OBJECT) {
            use(reach_value_key(value, i));
            CHECK(reach_value_member(value, reach_value_key(value, i)) != NULL);
        }
        walk(child);
    }
    CHECK(reach_value_at(value, count) == NULL);
}

static void read_all(const reach_reply *reply)
{
    size_t length;
    int64_t time;
    const char *json = reach_reply_json(reply, &length);
    CHECK(!json || strlen(json) == length);
    if (json) {
        /* The parameters alone are the same values. */
        struct json again;
        enum json_result result = json_read(&again, json, length);
        CHECK(result == JSON_OK || result == JSON_NO_MEMORY);
        CHECK(result != JSON_OK || again.values->count == reach_value_count(reach_reply_parameters(reply)));
        json_free(&again);
        walk(reach_reply_parameters(reply));
    }
    use(reach_reply_message(reply));
    use(reach_reply_error_name(reply));
    use(reach_reply_entry_id(reply));
    use(reach_reply_file(reply));
    use(reach_entry_file(reach_reply_changed_entry(reply)));
    sum += (size_t)reach_reply_outcome(reply) + (size_t)reach_reply_failure(reply) +
           (size_t)reach_reply_status_code(reply) + (size_t)reach_reply_file_bytes(reply);
    for (size_t i = 0; i <= reach_reply_entry_count(reply); i++) {
        const reach_entry *entry = reach_reply_entry(reply, i);
        use(reach_entry_id(entry));
        use(reach_entry_url(entry));
        sum += reach_entry_created(entry, &time) + (size_t)reach_entry_bytes(entry);
    }
    const reach_report *report = reach_reply_report(reply);
    use(reach_report_reason(report));
    use(reach_report_interface(report));
    sum += (size_t)reach_report_status(report) + reach_report_since(report, &time) +
           (size_t)reach_report_signal_dbm(report);
    sum += reach_report_has_ipv4(report) + (size_t)reach_report_medium(report) +
           (size_t)reach_report_reason_code(report);
    for (size_t i = 0; i <= reach_report_link_count(report); i++) {
        const reach_link *link = reach_report_link(report, i);
        use(reach_link_name(link));
        for (size_t j = 0; j <= reach_link_address_count(link); j++) use(reach_link_address(link, j));
        sum += (size_t)reach_link_index(link) + reach_link_internet_since(link, &time) +
               (size_t)reach_link_router(link);
    }
    for (size_t i = 0; i <= reach_report_step_count(report); i++)
        use(reach_step_answer(reach_report_step(report, i)));
}

static void fuzz_replies(const uint8_t *data, size_t size)
{
    struct frame frame = {0};
    size_t piece = size ? data[0] % 64 + 1u : 1;
    for (size_t at = 1; at < size; at += piece) {
        const char *message;
        size_t length;
        CHECK(frame_add(&frame, (const char *)data + at, size - at < piece ? size - at : piece));
        while (frame_next(&frame, &message, &length) == FRAME_MESSAGE) {
            int error;
            CHECK(strlen(message) == length);
            reach_reply *reply = reply_read(message, length, &error);
            CHECK(!reply == (error != 0));
            if (reply) read_all(reply);
            reach_reply_unref(reply);
        }
    }
    frame_free(&frame);
}

/* Two bytes are an event and the time until it. */
static void fuzz_line(const uint8_t *data, size_t size)
{
    static const int errors[] = {REACH_ERROR_NO_SERVICE, REACH_ERROR_NOT_RUNNING, REACH_ERROR_ACCESS,
                                 REACH_ERROR_BUSY,       REACH_ERROR_SYSTEM,      REACH_ERROR_PROTOCOL,
                                 REACH_ERROR_NO_MEMORY,  REACH_ERROR_DISCONNECTED};
    struct line line;
    int64_t now = 0;
    if (size == 0) return;
    bool is_limited = data[0] & 4 && (data[0] & 3) != LINE_MONITOR;
    line_begin(&line, data[0] & 3, is_limited ? (int64_t)data[0] * 1000 : LINE_NEVER, now);
    for (size_t at = 1; at + 1 < size; at += 2) {
        struct line_step step = {LINE_NOTHING, 0};
        enum line_state before = line.state;
        int error = errors[data[at + 1] % 8];
        now += (int64_t)data[at + 1] * (data[at] & 8 ? 1000 : 10);
        switch (data[at] % 8) {
        case 0: step = line_tick(&line, now); break;
        case 1: line_opened(&line, now); break;
        case 2: step = line_refused(&line, error, now); break;
        case 3: step = line_lost(&line, error, now); break;
        case 4: line_answered(&line); break;
        case 5: line_hurry(&line, now); break;
        case 6: line.watched = data[at] & 16; break;
        /* The time that the line itself asks for. */
        default:
            if (line_deadline(&line) == LINE_NEVER) break;
            if (line_deadline(&line) > now) now = line_deadline(&line);
            step = line_tick(&line, now);
            /* It was due: something follows, or it would be due for ever. */
            CHECK(step.action != LINE_NOTHING);
        }
        CHECK(step.action != LINE_CONNECT || line.state == LINE_PAUSED);
        CHECK(
            step.action != LINE_FAIL ||
            (line.state == LINE_ENDED && step.error < 0 && line.kind != LINE_MONITOR));
        CHECK(
            step.action != LINE_AWAY ||
            (line.kind == LINE_MONITOR && line.state == LINE_PAUSED && step.error < 0));
        CHECK(before != LINE_ENDED || (line.state == LINE_ENDED && step.action == LINE_NOTHING));
        CHECK(line.kind != LINE_MONITOR || line.state != LINE_ENDED);
        CHECK(line.state != LINE_ENDED || line_deadline(&line) == LINE_NEVER);
        /* A pause follows a failure, unless the time limit has passed. */
        bool is_paused = step.action == LINE_AWAY || step.action == LINE_RETRY;
        CHECK(!is_paused || line_deadline(&line) > now || line.limit <= now);
    }
}

static void event_seen(reach_client *client, reach_event event, const reach_reply *reply, void *data)
{
    (void)client;
    CHECK(event == REACH_EVENT_AWAY || reach_reply_report(reply));
    read_all(reply);
    ++*(int *)data;
}

static void answer_seen(reach_client *client, reach_call call, const reach_reply *reply, void *data)
{
    (void)client;
    (void)call;
    read_all(reply);
    ++*(int *)data;
}

static void fuzz_client(const uint8_t *data, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    static int listener = -1;
    static char name[64];
    if (listener < 0) {
        snprintf(name, sizeof name, "@reach-fuzz-%d", getpid());
        strcpy(address.sun_path + 1, name + 1);
        listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        CHECK(bind(listener, (struct sockaddr *)&address, (socklen_t)(2 + strlen(name))) == 0);
        CHECK(listen(listener, 16) == 0);
    }
    reach_client *client;
    int events = 0, answers = 0, connection;
    if (size == 0) return;
    CHECK(reach_client_new(&client, name) == 0);
    CHECK(reach_client_monitor(client, 0, event_seen, &events) == 0);
    CHECK(reach_client_call(client, "A", NULL, 0, answer_seen, &answers, NULL) == 0);
    CHECK(reach_client_wait(client, NULL, 0, answer_seen, &answers, NULL) == 0);
    reach_client_dispatch(client);
    size_t piece = data[0] * 8u + 1;
    while ((connection = accept(listener, NULL, NULL)) >= 0) {
        for (size_t at = 1; at < size; at += piece) {
            size_t count = size - at < piece ? size - at : piece;
            if (send(connection, data + at, count, MSG_NOSIGNAL) < 0) break;
            CHECK(reach_client_dispatch(client) >= 0);
        }
        close(connection);
        CHECK(reach_client_dispatch(client) >= 0);
    }
    /* The call must not be repeated: it has ended, one way or the other. */
    CHECK(answers >= 1 && answers <= 2 && events >= 1);
    reach_client_free(client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    switch (data[0] % 4) {
    case 0: fuzz_client(data + 1, size - 1); break;
    case 1: fuzz_line(data + 1, size - 1); break;
    default: fuzz_replies(data + 1, size - 1); break;
    }
    return 0;
}
