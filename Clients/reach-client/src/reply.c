/* SPDX-License-Identifier: Apache-2.0 */
#include "reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "words.h"

/* Counts as kept for ever. */
#define IMMORTAL (1u << 31)

reach_reply *reply_without_memory(void)
{
    static char message[] = "there is not enough memory";
    static reach_reply reply = {
        .references = IMMORTAL,
        .error = REACH_ERROR_NO_MEMORY,
        .message = message,
        .event = REACH_EVENT_AWAY};
    return &reply;
}

const reach_reply *reach_reply_ref(const reach_reply *reply)
{
    if (reply && reply != reply_without_memory()) {
        atomic_fetch_add_explicit(&((reach_reply *)reply)->references, 1, memory_order_relaxed);
    }
    return reply;
}

void reach_reply_unref(const reach_reply *reply)
{
    reach_reply *own = (reach_reply *)reply;
    if (!own || own == reply_without_memory()) return;
    if (atomic_fetch_sub_explicit(&own->references, 1, memory_order_acq_rel) != 1) return;
    json_free(&own->json);
    free(own->raw);
    free(own->message);
    free(own);
}

static reach_reply *new_reply(void)
{
    reach_reply *reply = calloc(1, sizeof *reply);
    if (!reply) return NULL;
    atomic_init(&reply->references, 1);
    reply->report.reply = reply;
    return reply;
}

/* The sentence of an error that the service has answered with: its reason, or the parameter that it names. */
static char *service_message(const reach_reply *reply)
{
    const char *what = reach_error_text(reply->error);
    const char *detail = json_text(reply->parameters, "reason");
    const char *names[] = {"parameter", "interface", "id", "method"};
    if (detail) return strdup(detail);
    for (size_t i = 0; i < sizeof names / sizeof *names && !detail; i++) {
        detail = json_text(reply->parameters, names[i]);
    }
    if (!detail && reply->error == REACH_ERROR_OTHER) detail = reply->error_name;
    size_t size = strlen(what) + (detail ? strlen(detail) : 0) + 3;
    char *message = malloc(size);
    if (message) snprintf(message, size, "%s%s%s", what, detail ? ": " : "", detail ? detail : "");
    return message;
}

/* What a reply is by its members (varlink.org/Method-Call); false if it is none. */
static bool read_members(reach_reply *reply)
{
    const reach_value *root = reply->json.values, *error = reach_value_member(root, "error");
    if (root->type != REACH_TYPE_OBJECT) return false;
    reply->parameters = reach_value_member(root, "parameters");
    if (reply->parameters && reply->parameters->type != REACH_TYPE_OBJECT) {
        if (reply->parameters->type != REACH_TYPE_NULL) return false;
        reply->parameters = NULL;
    }
    if (error && error->type != REACH_TYPE_NULL) {
        reply->error_name = reach_value_string(error, NULL);
        if (!reply->error_name) return false;
        reply->error = error_of_name(reply->error_name);
    }
    reply->continues = json_flag(root, "continues");
    return true;
}

/* Finds the JSON of the parameters: an empty object where they were left out. */
static void cut_raw(reach_reply *reply)
{
    static const struct reach_value nothing = {.type = REACH_TYPE_OBJECT};
    if (reply->parameters) {
        reply->raw_start = reply->parameters->start;
        reply->raw_length = reply->parameters->end - reply->parameters->start;
        reply->raw[reply->parameters->end] = 0;
    } else {
        /* The shortest object has room for it. */
        reply->parameters = &nothing;
        reply->raw_length = 2;
        memcpy(reply->raw, "{}", 3);
    }
}

reach_reply *reply_read(const char *message, size_t length, int *error)
{
    reach_reply *reply = new_reply();
    *error = REACH_ERROR_NO_MEMORY;
    if (!reply) return NULL;
    enum json_result result = json_read(&reply->json, message, length);
    if (result != JSON_NO_MEMORY) *error = REACH_ERROR_PROTOCOL;
    if (result != JSON_OK || !read_members(reply)) {
        reach_reply_unref(reply);
        return NULL;
    }
    *error = REACH_ERROR_NO_MEMORY;
    reply->raw = malloc(length + 1);
    if (reply->raw) {
        memcpy(reply->raw, message, length);
        reply->raw[length] = 0;
        cut_raw(reply);
        if (reply->error) reply->message = service_message(reply);
    }
    if (!reply->raw || (reply->error && !reply->message)) {
        reach_reply_unref(reply);
        return NULL;
    }
    *error = 0;
    return reply;
}

reach_reply *reply_failed_because(int error, const char *sentence)
{
    reach_reply *reply = new_reply();
    if (!reply) return reply_without_memory();
    reply->error = error;
    reply->event = REACH_EVENT_AWAY;
    reply->message = strdup(sentence);
    if (reply->message) return reply;
    reach_reply_unref(reply);
    return reply_without_memory();
}

reach_reply *reply_failed(int error, int number, const char *socket)
{
    char sentence[512];
    error_message(sentence, sizeof sentence, error, number, socket);
    reach_reply *reply = reply_failed_because(error, sentence);
    if (reply != reply_without_memory()) reply->number = number;
    return reply;
}

int reach_reply_error(const reach_reply *reply)
{
    return reply ? reply->error : REACH_ERROR_INVALID_ARGUMENT;
}

const char *reach_reply_message(const reach_reply *reply)
{
    return reply && reply->message ? reply->message : "";
}

int reach_reply_errno(const reach_reply *reply) { return reply ? reply->number : 0; }

const char *reach_reply_error_name(const reach_reply *reply) { return reply ? reply->error_name : NULL; }

const char *reach_reply_json(const reach_reply *reply, size_t *length)
{
    bool has_json = reply && reply->raw;
    if (length) *length = has_json ? reply->raw_length : 0;
    return has_json ? reply->raw + reply->raw_start : NULL;
}

const reach_value *reach_reply_parameters(const reach_reply *reply)
{
    return reply ? reply->parameters : NULL;
}

const reach_report *reach_reply_report(const reach_reply *reply)
{
    bool has_report = reply && reply->error == 0 && json_text(reply->parameters, "status");
    return has_report ? &reply->report : NULL;
}

reach_event reply_event(const reach_reply *reply)
{
    return word_event(json_text(reply->parameters, "event"));
}
