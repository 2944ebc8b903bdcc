/* SPDX-License-Identifier: Apache-2.0 */
/* What programs read of replies about the outbox. */
#include <string.h>

#include "reply.h"
#include "words.h"

/* The parameters of an answer; NULL for those of an error. */
static const reach_value *answer(const reach_reply *reply)
{
    return reply && !reply->error ? reply->parameters : NULL;
}

const char *reach_reply_entry_id(const reach_reply *reply) { return json_text(answer(reply), "id"); }

bool reach_reply_is_repeated(const reach_reply *reply) { return json_flag(answer(reply), "repeated"); }

reach_outcome reach_reply_outcome(const reach_reply *reply)
{
    return word_outcome(json_text(answer(reply), "outcome"));
}

reach_failure reach_reply_failure(const reach_reply *reply)
{
    return word_failure(json_text(answer(reply), "failure"));
}

int reach_reply_status_code(const reach_reply *reply)
{
    int64_t code = json_integer(answer(reply), "statusCode");
    return code < 0 || code > 999 ? 0 : (int)code;
}

bool reach_reply_continues(const reach_reply *reply) { return reply && reply->continues; }

reach_change reach_reply_change(const reach_reply *reply)
{
    return word_change(json_text(answer(reply), "event"));
}

const reach_entry *reach_reply_changed_entry(const reach_reply *reply)
{
    const reach_value *found = reach_value_member(answer(reply), "entry");
    return reach_value_type(found) == REACH_TYPE_OBJECT ? (const reach_entry *)found : NULL;
}

int64_t reach_reply_sent_bytes(const reach_reply *reply) { return json_integer(answer(reply), "sent"); }

int64_t reach_reply_total_bytes(const reach_reply *reply) { return json_integer(answer(reply), "total"); }

const char *reach_reply_file(const reach_reply *reply) { return json_text(answer(reply), "file"); }

int64_t reach_reply_file_bytes(const reach_reply *reply) { return json_integer(answer(reply), "bytes"); }

const char *reach_reply_successor(const reach_reply *reply) { return json_text(answer(reply), "successor"); }

const reach_value *reach_reply_answer(const reach_reply *reply)
{
    const reach_value *found = reach_value_member(answer(reply), "answer");
    return reach_value_type(found) == REACH_TYPE_OBJECT ? found : NULL;
}

size_t reach_reply_entry_count(const reach_reply *reply)
{
    return reach_value_count(reach_value_member(answer(reply), "entries"));
}

const reach_entry *reach_reply_entry(const reach_reply *reply, size_t index)
{
    const reach_value *found = reach_value_at(reach_value_member(answer(reply), "entries"), index);
    return reach_value_type(found) == REACH_TYPE_OBJECT ? (const reach_entry *)found : NULL;
}

int64_t reach_reply_entry_total(const reach_reply *reply) { return json_integer(answer(reply), "total"); }

/* An entry is a value: its type exists for the compiler alone. */
static const reach_value *of(const reach_entry *entry) { return (const reach_value *)entry; }

const char *reach_entry_id(const reach_entry *entry) { return json_text(of(entry), "id"); }

const char *reach_entry_lane(const reach_entry *entry) { return json_text(of(entry), "lane"); }

const char *reach_entry_method(const reach_entry *entry) { return json_text(of(entry), "method"); }

const char *reach_entry_url(const reach_entry *entry) { return json_text(of(entry), "url"); }

bool reach_entry_is_dead(const reach_entry *entry)
{
    const char *state = json_text(of(entry), "state");
    return state && strcmp(state, "dead") == 0;
}

int64_t reach_entry_attempts(const reach_entry *entry) { return json_integer(of(entry), "attempts"); }

int64_t reach_entry_bytes(const reach_entry *entry) { return json_integer(of(entry), "bytes"); }

const char *reach_entry_file(const reach_entry *entry) { return json_text(of(entry), "file"); }

const char *reach_entry_idempotency_key(const reach_entry *entry)
{
    return json_text(of(entry), "idempotencyKey");
}

const char *reach_entry_last_error(const reach_entry *entry) { return json_text(of(entry), "lastError"); }

const char *reach_entry_hold(const reach_entry *entry) { return json_text(of(entry), "hold"); }

static bool time_of(const reach_entry *entry, const char *name, int64_t *unix_ms)
{
    int64_t none;
    return time_read(json_text(of(entry), name), unix_ms ? unix_ms : &none);
}

bool reach_entry_created(const reach_entry *entry, int64_t *unix_ms)
{
    return time_of(entry, "created", unix_ms);
}

bool reach_entry_expires(const reach_entry *entry, int64_t *unix_ms)
{
    return time_of(entry, "expires", unix_ms);
}

bool reach_entry_next_attempt(const reach_entry *entry, int64_t *unix_ms)
{
    return time_of(entry, "nextAttempt", unix_ms);
}

const reach_value *reach_entry_value(const reach_entry *entry) { return of(entry); }
