/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that are none, structs of other versions, and programs without memory. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lab.h"

static void nothing_is_no_crash(void)
{
    const reach_report *report = NULL;
    EXPECT_INT(reach_client_new(NULL, NULL), REACH_ERROR_INVALID_ARGUMENT);
    reach_client_free(NULL);
    EXPECT_TEXT(reach_client_socket(NULL), "");
    EXPECT_INT(reach_client_fd(NULL), -1);
    EXPECT_INT(reach_client_timeout(NULL), -1);
    EXPECT_INT(reach_client_dispatch(NULL), REACH_ERROR_INVALID_ARGUMENT);
    EXPECT_INT(reach_client_run_once(NULL, 0), REACH_ERROR_INVALID_ARGUMENT);
    EXPECT_INT(reach_client_start_thread(NULL), REACH_ERROR_INVALID_ARGUMENT);
    EXPECT_INT(reach_client_monitor(NULL, 0, NULL, NULL), REACH_ERROR_INVALID_ARGUMENT);
    reach_client_stop_monitor(NULL);
    reach_client_retry_now(NULL);
    EXPECT(reach_client_report(NULL) == NULL && !reach_client_cancel(NULL, 1));
    EXPECT_INT(reach_client_connection(NULL), REACH_CONNECTION_NONE);
    EXPECT_INT(reach_client_status_direct(NULL), REACH_ERROR_INVALID_ARGUMENT);
    EXPECT(reach_reply_ref(NULL) == NULL && reach_report_ref(NULL) == NULL);
    reach_reply_unref(NULL);
    reach_report_unref(NULL);
    EXPECT_INT(reach_reply_error(NULL), REACH_ERROR_INVALID_ARGUMENT);
    EXPECT_TEXT(reach_reply_message(NULL), "");
    EXPECT(!reach_reply_json(NULL, NULL) && !reach_reply_parameters(NULL) && !reach_reply_report(NULL));
    EXPECT(!reach_reply_entry_id(NULL) && !reach_reply_entry(NULL, 0) && !reach_entry_value(NULL));
    EXPECT(!reach_reply_file(NULL) && reach_reply_file_bytes(NULL) == 0 && !reach_entry_file(NULL));
    EXPECT_INT(reach_reply_outcome(NULL), REACH_OUTCOME_NONE);
    EXPECT_INT(reach_report_status(report), REACH_STATUS_UNKNOWN);
    EXPECT_TEXT(reach_report_reason(report), "");
    EXPECT(
        !reach_report_is_online(report) && !reach_report_interface(report) &&
        !reach_report_since(report, NULL));
    EXPECT_INT(reach_report_internet(report), REACH_INTERNET_NOT_PROBED);
    EXPECT_INT(reach_report_link_count(report) + reach_report_step_count(report), 0);
    EXPECT(
        !reach_report_link(report, 0) && !reach_report_step(report, 0) && !reach_report_json(report, NULL));
    EXPECT_TEXT(reach_link_name(NULL), "");
    EXPECT(!reach_link_address(NULL, 0) && reach_link_address_count(NULL) == 0);
    EXPECT_TEXT(reach_step_question(NULL), "");
    EXPECT_INT(reach_value_type(NULL), REACH_TYPE_NONE);
    EXPECT(!reach_value_string(NULL, NULL) && !reach_value_at(NULL, 0) && !reach_value_member(NULL, "a"));
    EXPECT_TEXT(reach_client_version(), "0.1.0");
}

static void bad_arguments_are_refused(void)
{
    struct lab lab;
    lab_open(&lab);
    reach_client *client = lab.client;
    const char *bad = "\xff", *half[] = {"a", NULL}, *list[] = {"eth0", bad, NULL};
    reach_wait_options wait = {.size = sizeof wait};
    reach_request request = {.size = sizeof request, .url = "http://x/"};
    int due = REACH_ERROR_INVALID_ARGUMENT;
    reach_call call = 7;
    EXPECT_INT(reach_client_get_status(client, -1, lab_answered, &lab, &call), due);
    EXPECT_INT(call, 0);
    EXPECT_INT(reach_client_get_status(client, 5, NULL, &lab, NULL), due);
    EXPECT_INT(reach_client_get_status(NULL, 5, lab_answered, &lab, NULL), due);
    EXPECT_INT(reach_client_explain(client, bad, 5, lab_answered, &lab, NULL), due);
    EXPECT_INT(reach_client_call(client, NULL, NULL, 5, lab_answered, &lab, NULL), due);
    EXPECT_INT(reach_client_call(client, "", NULL, 5, lab_answered, &lab, NULL), due);
    EXPECT_INT(reach_client_call(client, "A", "[]", 5, lab_answered, &lab, NULL), due);
    EXPECT_INT(reach_client_call(client, "A", "{", 5, lab_answered, &lab, NULL), due);
    EXPECT_INT(reach_client_call(client, "A", "{},\"more\":true", 5, lab_answered, &lab, NULL), due);
    EXPECT_INT(reach_client_wait_outbox(client, NULL, 5, lab_answered, &lab, NULL), due);
    EXPECT_INT(reach_client_list_outbox(client, bad, 0, 5, lab_answered, &lab, NULL), due);
    EXPECT_INT(reach_client_list_outbox(client, NULL, -1, 5, lab_answered, &lab, NULL), due);
    EXPECT_INT(reach_client_enqueue(client, NULL, 5, lab_answered, &lab, NULL), due);
    EXPECT_INT(reach_client_monitor(client, 2, lab_changed, &lab), due);
    wait.goal = 9;
    EXPECT_INT(reach_client_wait(client, &wait, 5, lab_answered, &lab, NULL), due);
    wait = (reach_wait_options){.size = sizeof wait, .interfaces = list};
    EXPECT_INT(reach_client_wait(client, &wait, 5, lab_answered, &lab, NULL), due);
    wait = (reach_wait_options){.size = sizeof wait, .stable_ms = -1};
    EXPECT_INT(reach_client_wait(client, &wait, 5, lab_answered, &lab, NULL), due);
    request.headers = half;
    EXPECT_INT(reach_client_enqueue(client, &request, 5, lab_answered, &lab, NULL), due);
    request = (reach_request){.size = sizeof request};
    EXPECT_INT(reach_client_enqueue(client, &request, 5, lab_answered, &lab, NULL), due);
    request = (reach_request){.size = sizeof request, .url = "http://x/", .body_length = 3};
    EXPECT_INT(reach_client_enqueue(client, &request, 5, lab_answered, &lab, NULL), due);
    EXPECT_INT(reach_client_monitor(client, 0, NULL, NULL), 0);
    EXPECT_INT(reach_client_monitor(client, 0, NULL, NULL), due);
    lab_close(&lab);
}

static void structs_of_other_versions_are_accepted(void)
{
    struct lab lab;
    struct {
        reach_wait_options known;
        int64_t later;
    } wait = {.known = {.size = sizeof wait, .goal = REACH_GOAL_WIRED}};
    lab_open(&lab);
    lab_listen(&lab);
    /* A later program that does not use what it knows more. */
    EXPECT_INT(reach_client_wait(lab.client, &wait.known, 0, lab_answered, &lab, NULL), 0);
    close(lab_serve(&lab, "\"goal\":\"wired\"}"));
    wait.later = 1;
    EXPECT_INT(
        reach_client_wait(lab.client, &wait.known, 0, lab_answered, &lab, NULL),
        REACH_ERROR_INVALID_ARGUMENT);
    /* An earlier one: what is behind its end is not looked at. */
    wait.known = (reach_wait_options){
        .size = offsetof(reach_wait_options, stable_ms), .goal = REACH_GOAL_WIFI, .stable_ms = 5};
    EXPECT_INT(reach_client_wait(lab.client, &wait.known, 0, lab_answered, &lab, NULL), 0);
    close(lab_serve(&lab, "\"goal\":\"wifi\"}"));
    wait.known.size = 0;
    EXPECT_INT(
        reach_client_wait(lab.client, &wait.known, 0, lab_answered, &lab, NULL),
        REACH_ERROR_INVALID_ARGUMENT);
    lab_close(&lab);
}

static void the_descriptor_is_readable_when_there_is_work(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    struct pollfd ready = {.fd = reach_client_fd(lab.client), .events = POLLIN};
    EXPECT_INT(poll(&ready, 1, 0), 0);
    EXPECT_INT(reach_client_timeout(lab.client), -1);
    EXPECT_INT(reach_client_dispatch(lab.client), 0);
    reach_client_monitor(lab.client, 0, lab_changed, &lab);
    EXPECT_INT(poll(&ready, 1, 10000), 1);
    int connection = lab_serve(&lab, "Monitor");
    lab_send(connection, REPORT("wired", "initial"));
    EXPECT_INT(poll(&ready, 1, 10000), 1);
    EXPECT_INT(reach_client_dispatch(lab.client), 1);
    /* And only then: nothing turns in a circle. */
    EXPECT_INT(poll(&ready, 1, 0), 0);
    EXPECT_INT(reach_client_timeout(lab.client), -1);
    /* A time limit makes it readable too. */
    reach_client_get_status(lab.client, 100, lab_answered, &lab, NULL);
    int mute = lab_serve(&lab, "GetStatus");
    EXPECT(reach_client_timeout(lab.client) > 0 && reach_client_timeout(lab.client) <= 100);
    EXPECT_INT(poll(&ready, 1, 10000), 1);
    EXPECT_INT(reach_client_dispatch(lab.client), 1);
    EXPECT_INT(poll(&ready, 1, 0), 0);
    close(connection);
    close(mute);
    lab_close(&lab);
}

static void without_descriptors_there_is_an_error(void)
{
    struct lab lab;
    struct rlimit former, none;
    lab_open(&lab);
    lab_listen(&lab);
    getrlimit(RLIMIT_NOFILE, &former);
    none = former;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    reach_client *client;
    EXPECT_INT(reach_client_new(&client, lab.socket), REACH_ERROR_SYSTEM);
    EXPECT_INT(errno, EMFILE);
    reach_client_get_status(lab.client, 5000, lab_answered, &lab, NULL);
    reach_client_monitor(lab.client, 0, lab_changed, &lab);
    const reach_report *report;
    EXPECT_INT(reach_client_status_direct(&report), REACH_ERROR_SYSTEM);
    EXPECT_INT(reach_client_dispatch(lab.client), 2);
    setrlimit(RLIMIT_NOFILE, &former);
    EXPECT_INT(lab.answers[0].error, REACH_ERROR_SYSTEM);
    EXPECT_INT(reach_reply_errno(lab.answers[0].reply), EMFILE);
    EXPECT_INT(lab.events[0].error, REACH_ERROR_SYSTEM);
    /* The monitor comes back by itself. */
    int connection = lab_serve(&lab, "Monitor");
    close(connection);
    lab_close(&lab);
}

/* Memory that is refused from some allocation on; see the linker's --wrap. */
static int allocations_left = -1;

static bool may_allocate(void)
{
    if (allocations_left < 0) return true;
    if (allocations_left == 0) return false;
    allocations_left--;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size) { return may_allocate() ? __real_malloc(size) : NULL; }
void *__wrap_calloc(size_t count, size_t size) { return may_allocate() ? __real_calloc(count, size) : NULL; }
void *__wrap_realloc(void *memory, size_t size)
{
    return may_allocate() ? __real_realloc(memory, size) : NULL;
}
char *__wrap_strdup(const char *text) { return may_allocate() ? __real_strdup(text) : NULL; }

/* Everything once, with so many allocations; returns whether they were enough. */
static bool try_with(int allocations)
{
    struct lab lab;
    const char *list[] = {"eth0", NULL}, *headers[] = {"A", "b", NULL};
    reach_wait_options wait = {.size = sizeof wait, .interfaces = list};
    reach_request request = {
        .size = sizeof request, .url = "http://x/", .headers = headers, .body = "abc", .body_length = 3};
    reach_request file = {.size = sizeof file, .url = "http://x/"};
    reach_fetch fetch = {.size = sizeof fetch, .file = "/a", .mirrors = list};
    lab_open(&lab);
    lab_listen(&lab);
    reach_client_free(lab.client);
    allocations_left = allocations;
    bool is_enough = false;
    if (reach_client_new(&lab.client, lab.socket) == 0) {
        int failed = 0;
        failed += reach_client_monitor(lab.client, 0, lab_changed, &lab) != 0;
        failed += reach_client_explain(lab.client, "h", 0, lab_answered, &lab, NULL) != 0;
        failed += reach_client_wait(lab.client, &wait, 1000, lab_answered, &lab, NULL) != 0;
        failed += reach_client_enqueue(lab.client, &request, 0, lab_answered, &lab, NULL) != 0;
        failed += reach_client_enqueue_fetch(lab.client, &file, &fetch, 0, lab_answered, &lab, NULL) != 0;
        failed += reach_client_call(lab.client, "A", "{\"a\":[1]}", 0, lab_answered, &lab, NULL) != 0;
        reach_client_dispatch(lab.client);
        const char *replies[] = {
            REPORT("wired", "initial"), ANSWER,
            "{\"error\":\"io.reach.Reachability.NoCarrier\",\"parameters\":{}}"};
        int connection;
        for (int i = 0; (connection = accept4(lab.listener, NULL, NULL, 0)) >= 0; i++) {
            send(connection, replies[i % 3], strlen(replies[i % 3]) + 1, MSG_NOSIGNAL);
            reach_client_dispatch(lab.client);
            close(connection);
            reach_client_dispatch(lab.client);
        }
        const reach_report *report = NULL;
        failed += reach_client_status_direct(&report) != 0;
        reach_report_unref(report);
        /* What was begun has ended by a callback, or is still to be tried. */
        for (int i = 0; i < lab.answer_count; i++) failed += lab.answers[i].error == REACH_ERROR_NO_MEMORY;
        for (int i = 0; i < lab.event_count; i++) failed += lab.events[i].error == REACH_ERROR_NO_MEMORY;
        is_enough = failed == 0 && allocations_left > 0;
    }
    allocations_left = -1;
    lab_close(&lab);
    return is_enough;
}

static void programs_without_memory_get_an_error(void)
{
    int allocations = 0;
    while (!try_with(allocations)) allocations++;
    /* There was something to refuse. */
    EXPECT(allocations > 30);
}

const struct test tests[] = {
    {"C-100 NULL is no crash", nothing_is_no_crash},
    {"C-101 bad arguments are refused", bad_arguments_are_refused},
    {"C-102 structs of earlier and later versions are accepted", structs_of_other_versions_are_accepted},
    {"C-103 the descriptor is readable when there is work, and only then",
     the_descriptor_is_readable_when_there_is_work},
    {"C-104 without descriptors there is an error, and the monitor comes back",
     without_descriptors_there_is_an_error},
    {"C-105 each allocation that fails is an error, without a crash or a leak",
     programs_without_memory_get_an_error},
    {NULL, NULL},
};
