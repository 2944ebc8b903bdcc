/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about the network, and any method. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "json-write.h"
#include "words.h"

/* The longest time that the service takes, a hundred years; more is for ever. */
#define LONGEST_MS 3155760000000

int call_begin(reach_client *client, struct call *call, reach_call *id)
{
    int error = 0;
    struct peer *peer = NULL;
    if (id) *id = 0;
    if (!client || !call->callback || call->timeout_ms < 0) error = REACH_ERROR_INVALID_ARGUMENT;
    else if (call->parameters.failed) error = REACH_ERROR_NO_MEMORY;
    if (!error) {
        peer = peer_new(call->method, call->parameters.data, call->parameters.count);
        if (!peer) error = REACH_ERROR_NO_MEMORY;
    }
    bytes_free(&call->parameters);
    if (error) return error;
    peer->callback = call->callback;
    peer->data = call->data;
    peer->sends_timeout = call->sends_timeout;
    peer->wants_more = call->wants_more;

    pthread_mutex_lock(&client->lock);
    bool is_limited = call->timeout_ms > 0 && call->timeout_ms <= LONGEST_MS;
    int64_t now = client_now(), slack = call->sends_timeout ? ANSWER_SLACK : 0;
    line_begin(&peer->line, call->kind, is_limited ? now + call->timeout_ms + slack : LINE_NEVER, now);
    peer->id = ++client->last_id;
    if (id) *id = peer->id;
    /* In their order: they are connected, and end, one after the other. */
    struct peer **end = &client->calls;
    while (*end) end = &(*end)->next;
    *end = peer;
    client_arm(client);
    pthread_mutex_unlock(&client->lock);
    return 0;
}

bool call_options(void *to, size_t size, const void *from)
{
    size_t given;
    memcpy(&given, from, sizeof given);
    if (given < sizeof given || given > 4096) return false;
    /* A later member that is set is one that this library cannot carry out. */
    for (size_t i = size; i < given; i++) {
        if (((const char *)from)[i]) return false;
    }
    memset(to, 0, size);
    memcpy(to, from, given < size ? given : size);
    return true;
}

bool reach_client_cancel(reach_client *client, reach_call call)
{
    struct peer *found = NULL;
    if (!client || call == 0) return false;
    pthread_mutex_lock(&client->lock);
    struct peer **lists[] = {&client->calls, &client->ended};
    for (int i = 0; i < 2 && !found; i++) {
        struct peer **link = lists[i];
        while (*link && (*link)->id != call) link = &(*link)->next;
        found = *link;
        if (!found) continue;
        *link = found->next;
        if (client->ended_end == &found->next) client->ended_end = link;
    }
    if (!found) client_await(client, call);
    client_arm(client);
    pthread_mutex_unlock(&client->lock);
    peer_free(found);
    return found != NULL;
}

int reach_client_get_status(
    reach_client *client, int64_t timeout_ms, reach_call_callback callback, void *data, reach_call *call)
{
    struct call made = {
        .method = "io.reach.Reachability.GetStatus",
        .kind = LINE_REPEATED,
        .timeout_ms = timeout_ms,
        .callback = callback,
        .data = data,
    };
    bytes_append_text(&made.parameters, "{}");
    return call_begin(client, &made, call);
}

int reach_client_explain(
    reach_client *client, const char *host, int64_t timeout_ms, reach_call_callback callback, void *data,
    reach_call *call)
{
    struct call made = {
        .method = "io.reach.Reachability.Explain",
        .kind = LINE_REPEATED,
        .timeout_ms = timeout_ms,
        .callback = callback,
        .data = data,
    };
    if (call) *call = 0;
    if (host && !json_is_text(host)) return REACH_ERROR_INVALID_ARGUMENT;
    json_open(&made.parameters, NULL, '{');
    if (host) json_put_text(&made.parameters, "host", host);
    json_close(&made.parameters, '}');
    return call_begin(client, &made, call);
}

bool call_put_texts(struct bytes *json, const char *key, const char *const *texts)
{
    if (!texts) return true;
    json_open(json, key, '[');
    for (; *texts; texts++) {
        if (!json_is_text(*texts)) return false;
        json_put_text(json, NULL, *texts);
    }
    json_close(json, ']');
    return true;
}

static bool put_wait(struct bytes *json, const reach_wait_options *options)
{
    const char *goal = word_of_goal(options->goal);
    if (!goal || options->stable_ms < 0 || options->no_carrier_ms < 0) return false;
    json_open(json, NULL, '{');
    json_put_text(json, "goal", goal);
    if (!call_put_texts(json, "interfaces", options->interfaces)) return false;
    if (!call_put_texts(json, "ignore", options->ignore)) return false;
    if (options->all) json_put_flag(json, "all", true);
    if (options->stable_ms) json_put_seconds(json, "stable", options->stable_ms);
    if (options->no_carrier_ms) json_put_seconds(json, "noCarrierTimeout", options->no_carrier_ms);
    json_close(json, '}');
    return true;
}

int reach_client_wait(
    reach_client *client, const reach_wait_options *options, int64_t timeout_ms, reach_call_callback callback,
    void *data, reach_call *call)
{
    reach_wait_options known = {0};
    struct call made = {
        .method = "io.reach.Reachability.Wait",
        .sends_timeout = true,
        .timeout_ms = timeout_ms,
        .callback = callback,
        .data = data,
    };
    if (call) *call = 0;
    bool is_allowed = !options || call_options(&known, sizeof known, options);
    if (!is_allowed || !put_wait(&made.parameters, &known)) {
        bytes_free(&made.parameters);
        return REACH_ERROR_INVALID_ARGUMENT;
    }
    made.kind = known.await_service ? LINE_PATIENT : LINE_REPEATED;
    return call_begin(client, &made, call);
}

/* Whether a text is a JSON object. */
static int check_object(const char *text)
{
    struct json json;
    enum json_result result = json_read(&json, text, strlen(text));
    if (result == JSON_NO_MEMORY) return REACH_ERROR_NO_MEMORY;
    if (result != JSON_OK) return REACH_ERROR_INVALID_ARGUMENT;
    bool is_object = json.values->type == REACH_TYPE_OBJECT;
    json_free(&json);
    return is_object ? 0 : REACH_ERROR_INVALID_ARGUMENT;
}

int reach_client_call(
    reach_client *client, const char *method, const char *parameters, int64_t timeout_ms,
    reach_call_callback callback, void *data, reach_call *call)
{
    struct bytes name = {0};
    struct call made = {.kind = LINE_ONCE, .timeout_ms = timeout_ms, .callback = callback, .data = data};
    if (call) *call = 0;
    if (!method || !*method || !json_is_text(method)) return REACH_ERROR_INVALID_ARGUMENT;
    if (!parameters) parameters = "{}";
    int error = check_object(parameters);
    if (error) return error;
    if (!strchr(method, '.')) bytes_append_text(&name, "io.reach.Reachability.");
    bytes_append(&name, method, strlen(method) + 1);
    bytes_append_text(&made.parameters, parameters);
    made.method = name.data;
    error = name.failed ? REACH_ERROR_NO_MEMORY : call_begin(client, &made, call);
    bytes_free(&made.parameters);
    bytes_free(&name);
    return error;
}
