/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about the outbox. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "calls.h"
#include "json-write.h"

/* The longest body whose call, in base64, fits into a message of 1 MiB. */
#define LONGEST_BODY ((size_t)720 << 10)

/* A random key of 128 bits. */
static bool make_key(char key[33])
{
    unsigned char random[16];
    if (getrandom(random, sizeof random, GRND_NONBLOCK) != sizeof random) return false;
    for (int i = 0; i < 16; i++) snprintf(key + 2 * i, 3, "%02x", random[i]);
    return true;
}

static bool put_optional(struct bytes *json, const char *key, const char *text)
{
    if (!text) return true;
    if (!json_is_text(text)) return false;
    json_put_text(json, key, text);
    return true;
}

static bool put_headers(struct bytes *json, const char *const *headers)
{
    if (!headers) return true;
    json_open(json, "headers", '{');
    for (; *headers; headers += 2) {
        if (!headers[1] || !json_is_text(headers[0]) || !json_is_text(headers[1])) return false;
        json_put_text(json, headers[0], headers[1]);
    }
    json_close(json, '}');
    return true;
}

/* Its name, times, gates and tags. */
static bool put_plan(struct bytes *json, const reach_request *request)
{
    if (request->spread_ms < 0 || request->every_ms < 0) return false;
    if (!put_optional(json, "replaces", request->replaces)) return false;
    if (request->keep) json_put_flag(json, "keep", true);
    if (!call_put_texts(json, "tags", request->tags)) return false;
    if (!put_optional(json, "notBefore", request->not_before)) return false;
    if (!put_optional(json, "window", request->window)) return false;
    if (request->spread_ms) json_put_seconds(json, "spread", request->spread_ms);
    if (request->every_ms) json_put_seconds(json, "every", request->every_ms);
    return call_put_texts(json, "gates", request->gates);
}

/* The file that is fetched, and where from besides the URL. */
static bool put_fetch(struct bytes *json, const reach_fetch *fetch)
{
    char mode[16];
    if (!fetch->file || fetch->mode > 0777) return false;
    if (!put_optional(json, "file", fetch->file) || !put_optional(json, "sha256", fetch->sha256))
        return false;
    if (fetch->mode) {
        snprintf(mode, sizeof mode, "%04o", (unsigned)fetch->mode);
        json_put_text(json, "mode", mode);
    }
    return call_put_texts(json, "mirrors", fetch->mirrors);
}

static bool
put_request(struct bytes *json, const reach_request *request, const reach_fetch *fetch, const char *key)
{
    if (!request->url || request->body_length > LONGEST_BODY) return false;
    if (!request->body && request->body_length > 0) return false;
    if (request->expires_in_ms < 0 || request->answer_timeout_ms < 0 || request->maximum_attempts < 0)
        return false;
    if (fetch && (request->method || request->body_length > 0)) return false;
    json_open(json, NULL, '{');
    if (fetch && !put_fetch(json, fetch)) return false;
    if (!put_optional(json, "url", request->url) || !put_optional(json, "method", request->method))
        return false;
    if (!put_optional(json, "lane", request->lane) || !put_optional(json, "network", request->network))
        return false;
    if (!put_optional(json, "idempotencyKey", key) || !put_headers(json, request->headers)) return false;
    if (request->body_length > 0) json_put_base64(json, "bodyBase64", request->body, request->body_length);
    if (request->expires_in_ms) json_put_seconds(json, "expiresIn", request->expires_in_ms);
    if (request->priority) json_put_integer(json, "priority", request->priority);
    if (request->maximum_attempts) json_put_integer(json, "maximumAttempts", request->maximum_attempts);
    if (request->answer_timeout_ms) json_put_seconds(json, "answerTimeout", request->answer_timeout_ms);
    if (!put_plan(json, request)) return false;
    json_close(json, '}');
    return true;
}

/* Hands a request over, or with fetch one that fetches a file. */
static int begin_enqueue(
    reach_client *client, struct call *made, const reach_request *request, const reach_fetch *fetch,
    reach_call *call)
{
    reach_request known;
    char random[33];
    if (!request || !call_options(&known, sizeof known, request)) return REACH_ERROR_INVALID_ARGUMENT;
    const char *key = known.idempotency_key;
    if (!key && make_key(random)) key = random;
    /* Without a key the service cannot tell a repeated call from another. */
    made->kind = key ? LINE_REPEATED : LINE_ONCE;
    if (!put_request(&made->parameters, &known, fetch, key)) {
        bytes_free(&made->parameters);
        return REACH_ERROR_INVALID_ARGUMENT;
    }
    return call_begin(client, made, call);
}

int reach_client_enqueue(
    reach_client *client, const reach_request *request, int64_t timeout_ms, reach_call_callback callback,
    void *data, reach_call *call)
{
    struct call made = {
        .method = "io.reach.Reachability.Enqueue",
        .timeout_ms = timeout_ms,
        .callback = callback,
        .data = data,
    };
    if (call) *call = 0;
    return begin_enqueue(client, &made, request, NULL, call);
}

int reach_client_enqueue_fetch(
    reach_client *client, const reach_request *request, const reach_fetch *fetch, int64_t timeout_ms,
    reach_call_callback callback, void *data, reach_call *call)
{
    reach_fetch known;
    struct call made = {
        .method = "io.reach.Reachability.EnqueueFetch",
        .timeout_ms = timeout_ms,
        .callback = callback,
        .data = data,
    };
    if (call) *call = 0;
    if (!fetch || !call_options(&known, sizeof known, fetch)) return REACH_ERROR_INVALID_ARGUMENT;
    return begin_enqueue(client, &made, request, &known, call);
}

int reach_client_wait_outbox(
    reach_client *client, const char *id, int64_t timeout_ms, reach_call_callback callback, void *data,
    reach_call *call)
{
    struct call made = {
        .method = "io.reach.Reachability.WaitOutbox",
        .kind = LINE_REPEATED,
        .sends_timeout = true,
        .timeout_ms = timeout_ms,
        .callback = callback,
        .data = data,
    };
    if (call) *call = 0;
    if (!id || !json_is_text(id)) return REACH_ERROR_INVALID_ARGUMENT;
    json_open(&made.parameters, NULL, '{');
    json_put_text(&made.parameters, "id", id);
    json_close(&made.parameters, '}');
    return call_begin(client, &made, call);
}

int reach_client_follow_outbox(
    reach_client *client, const char *id, const char *lane, const char *tag, int64_t timeout_ms,
    reach_call_callback callback, void *data, reach_call *call)
{
    struct call made = {
        .method = "io.reach.Reachability.MonitorOutbox",
        .kind = LINE_REPEATED,
        .wants_more = true,
        .timeout_ms = timeout_ms,
        .callback = callback,
        .data = data,
    };
    if (call) *call = 0;
    if (id && (lane || tag)) return REACH_ERROR_INVALID_ARGUMENT;
    json_open(&made.parameters, NULL, '{');
    if (!put_optional(&made.parameters, "id", id) || !put_optional(&made.parameters, "lane", lane) ||
        !put_optional(&made.parameters, "tag", tag)) {
        bytes_free(&made.parameters);
        return REACH_ERROR_INVALID_ARGUMENT;
    }
    json_close(&made.parameters, '}');
    return call_begin(client, &made, call);
}

int reach_client_list_outbox(
    reach_client *client, const char *lane, int limit, int64_t timeout_ms, reach_call_callback callback,
    void *data, reach_call *call)
{
    struct call made = {
        .method = "io.reach.Reachability.ListOutbox",
        .kind = LINE_REPEATED,
        .timeout_ms = timeout_ms,
        .callback = callback,
        .data = data,
    };
    if (call) *call = 0;
    if (limit < 0 || (lane && !json_is_text(lane))) return REACH_ERROR_INVALID_ARGUMENT;
    json_open(&made.parameters, NULL, '{');
    if (lane) json_put_text(&made.parameters, "lane", lane);
    if (limit) json_put_integer(&made.parameters, "limit", limit);
    json_close(&made.parameters, '}');
    return call_begin(client, &made, call);
}
