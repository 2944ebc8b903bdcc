/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: what is sent, what their callbacks get, how they end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab.h"

/* Serves a call, and ends it: its connection is closed otherwise, and the call made again. */
static void expect_call(struct lab *lab, reach_call call, const char *part)
{
    int connection = lab_serve(lab, part);
    EXPECT(reach_client_cancel(lab->client, call));
    lab_expect_closed(lab, connection);
}

static void calls_are_what_the_interface_says(void)
{
    struct lab lab;
    reach_call call;
    lab_open(&lab);
    lab_listen(&lab);
    const char *interfaces[] = {"eth0", "wwan\"0", NULL}, *ignore[] = {"docker*", NULL};
    reach_wait_options wait = {
        .size = sizeof wait,
        .goal = REACH_GOAL_INTERNET,
        .all = true,
        .interfaces = interfaces,
        .ignore = ignore,
        .stable_ms = 1500,
        .no_carrier_ms = 2};
    reach_client_get_status(lab.client, 5000, lab_answered, &lab, &call);
    expect_call(&lab, call, "{\"method\":\"io.reach.Reachability.GetStatus\",\"parameters\":{}}");
    reach_client_explain(lab.client, "fe80::1%eth0", 5000, lab_answered, &lab, &call);
    expect_call(
        &lab, call,
        "{\"method\":\"io.reach.Reachability.Explain\",\"parameters\":{\"host\":\"fe80::1%eth0\"}}");
    reach_client_wait(lab.client, &wait, REACH_NO_TIMEOUT, lab_answered, &lab, &call);
    expect_call(
        &lab, call,
        "\"parameters\":{\"goal\":\"internet\",\"interfaces\":[\"eth0\",\"wwan\\\"0\"],\"ignore\":[\"docker*"
        "\"],"
        "\"all\":true,\"stable\":1.500,\"noCarrierTimeout\":0.002}}");
    reach_client_wait(lab.client, NULL, 60000, lab_answered, &lab, &call);
    expect_call(&lab, call, "\"parameters\":{\"timeout\":");
    reach_client_list_outbox(lab.client, "a", 7, 5000, lab_answered, &lab, &call);
    expect_call(&lab, call, "ListOutbox\",\"parameters\":{\"lane\":\"a\",\"limit\":7}}");
    reach_client_wait_outbox(lab.client, "12", REACH_NO_TIMEOUT, lab_answered, &lab, &call);
    expect_call(&lab, call, "WaitOutbox\",\"parameters\":{\"id\":\"12\"}}");
    reach_client_follow_outbox(lab.client, "12", NULL, NULL, REACH_NO_TIMEOUT, lab_answered, &lab, &call);
    expect_call(&lab, call, "MonitorOutbox\",\"parameters\":{\"id\":\"12\"},\"more\":true}");
    reach_client_follow_outbox(lab.client, NULL, "l", "t", REACH_NO_TIMEOUT, lab_answered, &lab, &call);
    expect_call(&lab, call, "\"parameters\":{\"lane\":\"l\",\"tag\":\"t\"},\"more\":true}");
    reach_client_call(
        lab.client, "org.varlink.service.GetInfo", " {\"x\" : [1] } ", 5000, lab_answered, &lab, &call);
    expect_call(&lab, call, "{\"method\":\"org.varlink.service.GetInfo\",\"parameters\": {\"x\" : [1] } }");
    EXPECT_INT(lab.answer_count, 0);
    lab_close(&lab);
}

static void a_request_is_sent_whole(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    const char *headers[] = {"Content-Type", "text/plain", "X-A", "\"b\"", NULL};
    reach_request request = {
        .size = sizeof request,
        .url = "https://example.org/a?b",
        .method = "PUT",
        .headers = headers,
        .body = "a\0b",
        .body_length = 3,
        .lane = "l",
        .idempotency_key = "key",
        .network = "wifiOrWired",
        .expires_in_ms = 60000,
        .priority = -3,
        .maximum_attempts = 4,
        .answer_timeout_ms = 500};
    reach_client_enqueue(lab.client, &request, 5000, lab_answered, &lab, NULL);
    int connection = lab_serve(
        &lab,
        "{\"method\":\"io.reach.Reachability.Enqueue\",\"parameters\":{\"url\":\"https://example.org/a?b\","
        "\"method\":\"PUT\",\"lane\":\"l\",\"network\":\"wifiOrWired\",\"idempotencyKey\":\"key\","
        "\"headers\":{\"Content-Type\":\"text/plain\",\"X-A\":\"\\\"b\\\"\"},\"bodyBase64\":\"YQBi\","
        "\"expiresIn\":60.000,\"priority\":-3,\"maximumAttempts\":4,\"answerTimeout\":0.500}}");
    lab_send(connection, "{\"parameters\":{\"id\":\"5\",\"idempotencyKey\":\"key\",\"repeated\":true}}");
    lab_await_answers(&lab, 1);
    EXPECT_TEXT(reach_reply_entry_id(lab.answers[0].reply), "5");
    EXPECT(reach_reply_is_repeated(lab.answers[0].reply));
    close(connection);
    lab_close(&lab);
}

static void a_request_has_a_name_times_and_gates(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    const char *tags[] = {"a", "b", NULL}, *gates[] = {"battery", NULL};
    reach_request request = {
        .size = sizeof request,
        .url = "http://x/",
        .idempotency_key = "k",
        .replaces = "state",
        .keep = true,
        .tags = tags,
        .not_before = "2026-03-01T02:00:00Z",
        .window = "22:00-06:00",
        .spread_ms = 1500,
        .every_ms = 60000,
        .gates = gates};
    reach_client_enqueue(lab.client, &request, 5000, lab_answered, &lab, NULL);
    int connection = lab_serve(
        &lab,
        "\"replaces\":\"state\",\"keep\":true,\"tags\":[\"a\",\"b\"],"
        "\"notBefore\":\"2026-03-01T02:00:00Z\",\"window\":\"22:00-06:00\",\"spread\":1.500,\"every\":60.000,"
        "\"gates\":[\"battery\"]}}");
    lab_send(connection, "{\"parameters\":{\"id\":\"5\"}}");
    lab_await_answers(&lab, 1);
    close(connection);
    request.every_ms = -1;
    EXPECT_INT(
        reach_client_enqueue(lab.client, &request, 1, lab_answered, &lab, NULL),
        REACH_ERROR_INVALID_ARGUMENT);
    EXPECT_INT(
        reach_client_follow_outbox(lab.client, "1", "l", NULL, 1, lab_answered, &lab, NULL),
        REACH_ERROR_INVALID_ARGUMENT);
    lab_close(&lab);
}

static void a_file_to_be_fetched_is_asked_for_whole(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    const char *mirrors[] = {"http://y/f", "http://z/f", NULL}, *bad[] = {"\xff", NULL};
    reach_request request = {.size = sizeof request, .url = "http://x/f", .idempotency_key = "k"};
    reach_fetch fetch = {
        .size = sizeof fetch, .file = "/data/a \"b\"", .sha256 = "00ff", .mirrors = mirrors, .mode = 0600};
    reach_client_enqueue_fetch(lab.client, &request, &fetch, 5000, lab_answered, &lab, NULL);
    int connection = lab_serve(
        &lab,
        "{\"method\":\"io.reach.Reachability.EnqueueFetch\",\"parameters\":{\"file\":\"/data/a "
        "\\\"b\\\"\",\"sha256\":\"00ff\",\"mode\":\"0600\",\"mirrors\":[\"http://y/f\",\"http://z/f\"],"
        "\"url\":\"http://x/f\",\"idempotencyKey\":\"k\"}}");
    /* A restart of the service: it is the same request. */
    close(connection);
    connection = lab_serve(&lab, "\"idempotencyKey\":\"k\"}}");
    lab_send(connection, "{\"parameters\":{\"id\":\"5\",\"repeated\":true}}");
    lab_await_answers(&lab, 1);
    EXPECT_TEXT(reach_reply_entry_id(lab.answers[0].reply), "5");
    EXPECT(reach_reply_is_repeated(lab.answers[0].reply));
    close(connection);
    fetch = (reach_fetch){.size = sizeof fetch, .file = "/data/a"};
    request.lane = "maps";
    reach_client_enqueue_fetch(lab.client, &request, &fetch, 5000, lab_answered, &lab, NULL);
    connection = lab_serve(
        &lab, "\"parameters\":{\"file\":\"/data/a\",\"url\":\"http://x/f\",\"lane\":\"maps\",");
    lab_send(
        connection, "{\"error\":\"io.reach.Reachability.BadRequest\",\"parameters\":{\"reason\":\"r\"}}");
    lab_await_answers(&lab, 2);
    EXPECT_INT(lab.answers[1].error, REACH_ERROR_BAD_REQUEST);
    close(connection);

    /* Neither may be missing; a body, a method and bits beyond the permissions belong to no fetched file. */
    const reach_fetch fetches[] = {
        {.size = sizeof fetch},
        {.size = sizeof fetch, .file = "\xff"},
        {.size = sizeof fetch, .file = "/a", .sha256 = "\xff"},
        {.size = sizeof fetch, .file = "/a", .mirrors = bad},
        {.size = sizeof fetch, .file = "/a", .mode = 04755},
        {.file = "/a"},
    };
    int due = REACH_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < sizeof fetches / sizeof *fetches; i++) {
        EXPECT_INT(
            reach_client_enqueue_fetch(lab.client, &request, &fetches[i], 5, lab_answered, &lab, NULL), due);
    }
    EXPECT_INT(reach_client_enqueue_fetch(lab.client, &request, NULL, 5, lab_answered, &lab, NULL), due);
    EXPECT_INT(reach_client_enqueue_fetch(lab.client, NULL, &fetch, 5, lab_answered, &lab, NULL), due);
    request.method = "GET";
    EXPECT_INT(reach_client_enqueue_fetch(lab.client, &request, &fetch, 5, lab_answered, &lab, NULL), due);
    request = (reach_request){.size = sizeof request, .url = "http://x/f", .body = "a", .body_length = 1};
    EXPECT_INT(reach_client_enqueue_fetch(lab.client, &request, &fetch, 5, lab_answered, &lab, NULL), due);
    lab_close(&lab);
}

static void a_request_is_followed_to_its_end(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    reach_client_follow_outbox(lab.client, "5", NULL, NULL, REACH_NO_TIMEOUT, lab_answered, &lab, NULL);
    int connection = lab_serve(&lab, "\"more\":true");
    lab_send(
        connection, "{\"parameters\":{\"event\":\"present\",\"id\":\"5\",\"entry\":{\"id\":\"5\","
                    "\"hold\":\"gate g is held\"}},\"continues\":true}");
    lab_send(connection, "{\"parameters\":{\"event\":\"ready\"},\"continues\":true}");
    lab_await_answers(&lab, 2);
    const reach_reply *reply = lab.answers[0].reply;
    EXPECT_INT(reach_reply_change(reply), REACH_CHANGE_PRESENT);
    EXPECT(reach_reply_continues(reply));
    EXPECT_TEXT(reach_entry_hold(reach_reply_changed_entry(reply)), "gate g is held");
    EXPECT_INT(reach_reply_change(lab.answers[1].reply), REACH_CHANGE_READY);
    EXPECT(!reach_reply_changed_entry(lab.answers[1].reply));
    /* A restart of the service: it is told again. */
    close(connection);
    connection = lab_serve(&lab, "MonitorOutbox");
    lab_send(
        connection, "{\"parameters\":{\"event\":\"progress\",\"id\":\"5\",\"sent\":7,\"total\":9},"
                    "\"continues\":true}");
    lab_send(
        connection, "{\"parameters\":{\"event\":\"left\",\"id\":\"5\",\"outcome\":\"replaced\","
                    "\"successor\":\"8\",\"answer\":{\"statusCode\":200,\"header\":\"\",\"body\":\"ok\"}}}");
    lab_await_answers(&lab, 4);
    EXPECT_INT(reach_reply_sent_bytes(lab.answers[2].reply), 7);
    EXPECT_INT(reach_reply_total_bytes(lab.answers[2].reply), 9);
    reply = lab.answers[3].reply;
    EXPECT(!reach_reply_continues(reply));
    EXPECT_INT(reach_reply_change(reply), REACH_CHANGE_LEFT);
    EXPECT_INT(reach_reply_outcome(reply), REACH_OUTCOME_REPLACED);
    EXPECT_TEXT(reach_reply_successor(reply), "8");
    EXPECT_TEXT(reach_value_string(reach_value_member(reach_reply_answer(reply), "body"), NULL), "ok");
    lab_expect_closed(&lab, connection);
    lab_close(&lab);
}

static void cancel_after_first(reach_client *client, reach_call call, const reach_reply *reply, void *data)
{
    lab_answered(client, call, reply, data);
    EXPECT(reach_client_cancel(client, call));
}

static void following_ends_in_its_callback(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    reach_client_follow_outbox(
        lab.client, NULL, NULL, NULL, REACH_NO_TIMEOUT, cancel_after_first, &lab, NULL);
    int connection = lab_serve(&lab, "MonitorOutbox\",\"parameters\":{},\"more\":true");
    lab_send(connection, "{\"parameters\":{\"event\":\"ready\"},\"continues\":true}");
    lab_send(connection, "{\"parameters\":{\"event\":\"later\"},\"continues\":true}");
    lab_await_answers(&lab, 1);
    lab_expect_closed(&lab, connection);
    EXPECT_INT(lab.answer_count, 1);
    lab_close(&lab);
}

static void a_great_request_passes_a_full_socket(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    size_t length = 720 << 10;
    reach_request request = {
        .size = sizeof request, .url = "http://x/", .body = calloc(1, length), .body_length = length};
    reach_client_enqueue(lab.client, &request, 20000, lab_answered, &lab, NULL);
    free((void *)request.body);
    int connection = lab_accept(&lab);
    /* The socket's buffer is full: the client has other work meanwhile. */
    reach_client_get_status(lab.client, 20000, lab_answered, &lab, NULL);
    int other = lab_serve(&lab, "GetStatus");
    lab_send(other, ANSWER);
    lab_await_answers(&lab, 1);
    EXPECT(strlen(lab_call(&lab, connection)) > length / 3 * 4);
    lab_send(connection, "{\"parameters\":{\"id\":\"6\"}}");
    lab_await_answers(&lab, 2);
    EXPECT_TEXT(reach_reply_entry_id(lab.answers[1].reply), "6");
    close(connection);
    close(other);
    request.body_length = length + 1;
    EXPECT_INT(
        reach_client_enqueue(lab.client, &request, 1, lab_answered, &lab, NULL),
        REACH_ERROR_INVALID_ARGUMENT);
    lab_close(&lab);
}

static void a_service_that_closes_while_it_is_sent_to_is_heard(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    size_t length = 700 << 10;
    char *body = calloc(1, length), *call = malloc(length + 64);
    memset(body, 'x', length - 1);
    snprintf(call, length + 64, "{\"a\":\"%s\"}", body);
    reach_client_call(lab.client, "Later", call, 20000, lab_answered, &lab, NULL);
    free(body);
    free(call);
    int connection = lab_accept(&lab);
    reach_client_run_once(lab.client, 1000);
    lab_send(
        connection, "{\"error\":\"io.reach.Reachability.MalformedMessage\",\"parameters\":{\"reason\":"
                    "\"longer than 16384\"}}");
    close(connection);
    lab_await_answers(&lab, 1);
    EXPECT_INT(lab.answers[0].error, REACH_ERROR_PROTOCOL);
    EXPECT_TEXT(reach_reply_message(lab.answers[0].reply), "longer than 16384");
    lab_close(&lab);
}

static void a_call_without_an_answer_ends_at_its_limit(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    reach_client_get_status(lab.client, 60, lab_answered, &lab, NULL);
    int connection = lab_serve(&lab, "GetStatus");
    lab_await_answers(&lab, 1);
    EXPECT_INT(lab.answers[0].error, REACH_ERROR_TIMED_OUT);
    lab_expect_closed(&lab, connection);
    /* The service's own answer, which has the reason, is waited for a moment longer. */
    reach_client_wait(lab.client, NULL, 60000, lab_answered, &lab, NULL);
    connection = lab_serve(&lab, "Wait");
    EXPECT(reach_client_timeout(lab.client) > 60000);
    lab_send(
        connection, "{\"error\":\"io.reach.Reachability.TimedOut\",\"parameters\":{\"reason\":\"not "
                    "reachable: eth0: no carrier\"}}");
    lab_await_answers(&lab, 2);
    EXPECT_INT(lab.answers[1].error, REACH_ERROR_TIMED_OUT);
    EXPECT_TEXT(reach_reply_message(lab.answers[1].reply), "not reachable: eth0: no carrier");
    close(connection);
    lab_close(&lab);
}

static void a_wait_survives_a_restart(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    reach_client_wait(lab.client, NULL, 100000, lab_answered, &lab, NULL);
    int connection = lab_serve(&lab, "\"timeout\":");
    close(connection);
    lab_end_service(&lab);
    lab_idle(&lab, 150);
    lab_listen(&lab);
    connection = lab_accept(&lab);
    double rest = atof(strstr(lab_call(&lab, connection), "\"timeout\":") + 10);
    EXPECT(rest > 60 && rest < 99.9);
    /* It has just started, and knows no status yet. */
    lab_send(
        connection, "{\"error\":\"io.reach.Reachability.Unavailable\",\"parameters\":{\"reason\":\"no status "
                    "is known yet\"}}");
    lab_expect_closed(&lab, connection);
    connection = lab_serve(&lab, "Wait");
    lab_send(connection, ANSWER);
    lab_await_answers(&lab, 1);
    EXPECT_INT(lab.answers[0].error, 0);
    EXPECT_INT(lab.answers[0].status, REACH_STATUS_WIRED);
    close(connection);
    lab_close(&lab);
}

static void a_request_is_the_same_after_a_restart(void)
{
    struct lab lab;
    char former[4096];
    lab_open(&lab);
    lab_listen(&lab);
    reach_request request = {.size = sizeof request, .url = "http://x/"};
    reach_client_enqueue(lab.client, &request, 20000, lab_answered, &lab, NULL);
    int connection = lab_accept(&lab);
    snprintf(former, sizeof former, "%s", lab_call(&lab, connection));
    EXPECT_HAS(former, "\"idempotencyKey\":\"");
    close(connection);
    connection = lab_accept(&lab);
    EXPECT_TEXT(lab_call(&lab, connection), former);
    /* Another has another key. */
    reach_client_enqueue(lab.client, &request, 20000, lab_answered, &lab, NULL);
    int other = lab_accept(&lab);
    EXPECT(strcmp(lab_call(&lab, other), former) != 0);
    close(other);
    close(connection);
    lab_close(&lab);
}

static void any_call_is_not_repeated(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    reach_client_call(lab.client, "RetryOutbox", "{\"id\":\"1\"}", 5000, lab_answered, &lab, NULL);
    close(lab_serve(&lab, "RetryOutbox"));
    lab_await_answers(&lab, 1);
    EXPECT_INT(lab.answers[0].error, REACH_ERROR_DISCONNECTED);
    lab_close(&lab);
}

static void a_wait_may_begin_before_the_service(void)
{
    struct lab lab;
    lab_open(&lab);
    reach_wait_options options = {.size = sizeof options, .await_service = true};
    reach_client_wait(lab.client, &options, 200, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 1);
    EXPECT_INT(lab.answers[0].error, REACH_ERROR_TIMED_OUT);
    EXPECT_HAS(reach_reply_message(lab.answers[0].reply), "no socket");
    reach_client_wait(lab.client, &options, REACH_NO_TIMEOUT, lab_answered, &lab, NULL);
    while (reach_client_timeout(lab.client) >= 0) reach_client_run_once(lab.client, -1);
    lab_listen(&lab);
    int connection = lab_serve(&lab, "Wait");
    lab_send(connection, ANSWER);
    lab_await_answers(&lab, 2);
    EXPECT_INT(lab.answers[1].error, 0);
    close(connection);
    lab_close(&lab);
}

static void a_cancelled_call_is_closed_without_a_callback(void)
{
    struct lab lab;
    reach_call call, other;
    lab_open(&lab);
    lab_listen(&lab);
    reach_client_wait(lab.client, NULL, REACH_NO_TIMEOUT, lab_answered, &lab, &call);
    reach_client_get_status(lab.client, 5000, lab_answered, &lab, &other);
    EXPECT(call != 0 && other != call);
    int asked = lab_serve(&lab, "Wait");
    int waiting = lab_serve(&lab, "GetStatus");
    EXPECT(reach_client_cancel(lab.client, call));
    EXPECT(!reach_client_cancel(lab.client, call));
    EXPECT(!reach_client_cancel(lab.client, 0) && !reach_client_cancel(lab.client, 999));
    lab_expect_closed(&lab, asked);
    lab_send(waiting, ANSWER);
    lab_await_answers(&lab, 1);
    EXPECT_INT(lab.answers[0].call, other);
    EXPECT(!reach_client_cancel(lab.client, other));
    close(waiting);
    lab_close(&lab);
}

/* A callback that cancels another call, begins one, and tries what it must not. */
static reach_call victim;

static void busy_callback(reach_client *client, reach_call call, const reach_reply *reply, void *data)
{
    lab_answered(client, call, reply, data);
    EXPECT_INT(reach_client_dispatch(client), REACH_ERROR_INVALID_ARGUMENT);
    EXPECT(!reach_client_cancel(client, call));
    reach_client_cancel(client, victim);
    reach_client_stop_monitor(client);
    EXPECT_INT(reach_client_monitor(client, 0, lab_changed, data), 0);
    EXPECT_INT(reach_client_get_status(client, 5000, lab_answered, data, NULL), 0);
}

static void callbacks_may_use_the_client(void)
{
    struct lab lab;
    lab_open(&lab);
    reach_client_monitor(lab.client, 0, lab_changed, &lab);
    /* All are refused in one turn: the first callback cancels the call whose callback is due next. */
    reach_client_get_status(lab.client, 5000, busy_callback, &lab, NULL);
    reach_client_get_status(lab.client, 5000, lab_answered, &lab, &victim);
    lab_await_answers(&lab, 1);
    /* The answer to what it has begun, and the first event of the new monitor. */
    lab_await_answers(&lab, 2);
    EXPECT(lab.answers[1].call > victim);
    EXPECT_INT(lab.answers[1].error, REACH_ERROR_NO_SERVICE);
    EXPECT(lab.event_count >= 1);
    lab_close(&lab);
}

static void free_in_call(reach_client *client, reach_call call, const reach_reply *reply, void *data)
{
    lab_answered(client, call, reply, data);
    reach_client_free(client);
    EXPECT_INT(reach_reply_error(reply), REACH_ERROR_NO_SERVICE);
}

static void free_in_event(reach_client *client, reach_event event, const reach_reply *reply, void *data)
{
    lab_changed(client, event, reply, data);
    reach_client_free(client);
    EXPECT_HAS(reach_reply_message(reply), "no socket");
}

static void a_callback_may_free_the_client(void)
{
    struct lab lab;
    for (int i = 0; i < 2; i++) {
        lab_open(&lab);
        reach_client_monitor(lab.client, 0, i ? free_in_event : lab_changed, &lab);
        for (int j = 0; j < 3; j++)
            reach_client_get_status(lab.client, 5000, i ? lab_answered : free_in_call, &lab, NULL);
        EXPECT(reach_client_dispatch(lab.client) >= 1);
        EXPECT_INT(lab.answer_count + lab.event_count, i ? 1 : 2);
        lab.client = NULL;
        lab_close(&lab);
    }
}

static void pending_calls_end_with_the_client(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    int connections[8];
    reach_client_monitor(lab.client, 0, lab_changed, &lab);
    for (int i = 0; i < 7; i++)
        reach_client_wait(lab.client, NULL, REACH_NO_TIMEOUT, lab_answered, &lab, NULL);
    for (int i = 0; i < 8; i++) connections[i] = lab_accept(&lab);
    reach_client_free(lab.client);
    lab.client = NULL;
    EXPECT_INT(lab.answer_count + lab.event_count, 0);
    char byte[4096];
    for (int i = 0; i < 8; i++) {
        while (recv(connections[i], byte, sizeof byte, 0) > 0) continue;
        EXPECT_INT(recv(connections[i], byte, 1, 0), 0);
        close(connections[i]);
    }
    lab_close(&lab);
}

static void a_child_of_fork_frees_its_copy(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    reach_client_monitor(lab.client, 0, lab_changed, &lab);
    int connection = lab_serve(&lab, "Monitor");
    pid_t child = fork();
    if (child == 0) {
        reach_client_free(lab.client);
        _exit(0);
    }
    int status;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    /* The parent's connection lives. */
    lab_send(connection, REPORT("wired", "initial"));
    lab_await_events(&lab, 1);
    EXPECT_INT(lab.events[0].event, REACH_EVENT_INITIAL);
    close(connection);
    lab_close(&lab);
}

const struct test tests[] = {
    {"C-080 calls are what the interface says", calls_are_what_the_interface_says},
    {"C-081 a request is sent whole", a_request_is_sent_whole},
    {"OBX-080 a request has a name, times and gates", a_request_has_a_name_times_and_gates},
    {"C-094 a file to be fetched is asked for whole, and again after a restart",
     a_file_to_be_fetched_is_asked_for_whole},
    {"OBX-081 a request is followed to its end, over a restart", a_request_is_followed_to_its_end},
    {"OBX-082 following ends in its callback", following_ends_in_its_callback},
    {"C-082 a great request passes a full socket, and nothing waits for it",
     a_great_request_passes_a_full_socket},
    {"C-083 a service that closes while it is sent to is heard",
     a_service_that_closes_while_it_is_sent_to_is_heard},
    {"C-084 a call without an answer ends at its time limit", a_call_without_an_answer_ends_at_its_limit},
    {"C-085 a wait survives a restart, with the rest of its time", a_wait_survives_a_restart},
    {"C-086 a request is the same after a restart", a_request_is_the_same_after_a_restart},
    {"C-087 any other call is not repeated", any_call_is_not_repeated},
    {"C-088 a wait may begin before the service", a_wait_may_begin_before_the_service},
    {"C-089 a cancelled call is closed without a callback", a_cancelled_call_is_closed_without_a_callback},
    {"C-090 callbacks may use the client", callbacks_may_use_the_client},
    {"C-091 a callback may free the client", a_callback_may_free_the_client},
    {"C-092 pending calls end with the client, without callbacks", pending_calls_end_with_the_client},
    {"C-093 a child of fork frees its copy, and the parent's lives", a_child_of_fork_frees_its_copy},
    {NULL, NULL},
};
