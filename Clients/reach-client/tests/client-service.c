/* SPDX-License-Identifier: Apache-2.0 */
/* Clients and the state of their service: absent, refused, slow, mute, closing, coming back. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab.h"

static void absent_services_are_told_apart(void)
{
    struct lab lab;
    lab_open(&lab);
    reach_call call;
    EXPECT_INT(reach_client_get_status(lab.client, 5000, lab_answered, &lab, &call), 0);
    EXPECT_INT(lab.answer_count, 0);
    lab_await_answers(&lab, 1);
    EXPECT_INT(lab.answers[0].error, REACH_ERROR_NO_SERVICE);
    EXPECT_INT(lab.answers[0].call, call);
    EXPECT_INT(reach_reply_errno(lab.answers[0].reply), ENOENT);
    EXPECT_HAS(reach_reply_message(lab.answers[0].reply), lab.socket);
    EXPECT(reach_reply_json(lab.answers[0].reply, NULL) == NULL);
    /* A socket without a listener. */
    lab_listen(&lab);
    close(lab.listener);
    lab.listener = -1;
    reach_client_get_status(lab.client, 5000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 2);
    EXPECT_INT(lab.answers[1].error, REACH_ERROR_NOT_RUNNING);
    EXPECT_INT(reach_reply_errno(lab.answers[1].reply), ECONNREFUSED);
    lab_close(&lab);
}

static void a_socket_without_permission_is_told_apart(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    chmod(lab.socket, 0600);
    bool is_root = geteuid() == 0;
    if (is_root) EXPECT_INT(seteuid(65534), 0);
    else chmod(lab.socket, 0);
    reach_client_get_status(lab.client, 5000, lab_answered, &lab, NULL);
    reach_client_monitor(lab.client, 0, lab_changed, &lab);
    lab_await_answers(&lab, 1);
    if (is_root) EXPECT_INT(seteuid(0), 0);
    EXPECT_INT(lab.answers[0].error, REACH_ERROR_ACCESS);
    EXPECT_INT(lab.events[0].error, REACH_ERROR_ACCESS);
    /* Once it may be used, the monitor finds it. */
    chmod(lab.socket, 0666);
    int connection = lab_serve(&lab, "Monitor");
    lab_send(connection, REPORT("wired", "initial"));
    lab_await_events(&lab, 2);
    close(connection);
    lab_close(&lab);
}

static void no_service_is_asked_where_the_path_is_empty(void)
{
    struct lab lab;
    lab_open(&lab);
    reach_client_free(lab.client);
    setenv("REACH_SOCKET", "", 1);
    EXPECT_INT(reach_client_new(&lab.client, NULL), 0);
    unsetenv("REACH_SOCKET");
    EXPECT_TEXT(reach_client_socket(lab.client), "");
    reach_client_get_status(lab.client, 5000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 1);
    EXPECT_INT(lab.answers[0].error, REACH_ERROR_NO_SERVICE);
    EXPECT_HAS(reach_reply_message(lab.answers[0].reply), "REACH_SOCKET");
    /* A monitor does not try for ever. */
    reach_client_monitor(lab.client, 0, lab_changed, &lab);
    lab_await_events(&lab, 1);
    while (reach_client_timeout(lab.client) >= 0) reach_client_run_once(lab.client, -1);
    EXPECT_INT(lab.event_count, 1);
    lab_close(&lab);
}

static void the_socket_is_named_by_the_environment(void)
{
    reach_client *client;
    char path[200];
    setenv("REACH_SOCKET", "/some/where", 1);
    EXPECT_INT(reach_client_new(&client, NULL), 0);
    EXPECT_TEXT(reach_client_socket(client), "/some/where");
    reach_client_free(client);
    unsetenv("REACH_SOCKET");
    EXPECT_INT(reach_client_new(&client, NULL), 0);
    EXPECT_TEXT(reach_client_socket(client), REACH_CLIENT_DEFAULT_SOCKET);
    reach_client_free(client);
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = 0;
    EXPECT_INT(reach_client_new(&client, path), REACH_ERROR_INVALID_ARGUMENT);
    EXPECT(client == NULL);
}

static void abstract_sockets_are_reached(void)
{
    struct lab lab;
    lab_open(&lab);
    reach_client_free(lab.client);
    char name[100];
    snprintf(name, sizeof name, "@reach-test-%d", getpid());
    EXPECT_INT(reach_client_new(&lab.client, name), 0);
    reach_client_monitor(lab.client, 0, lab_changed, &lab);
    lab_await_events(&lab, 1);
    EXPECT_INT(lab.events[0].error, REACH_ERROR_NOT_RUNNING);
    strcpy(lab.socket, name);
    lab.socket[0] = 0;
    /* Nothing watches for it: it is found by time. */
    struct {
        unsigned short family;
        char path[108];
    } address = {AF_UNIX, {0}};
    memcpy(address.path + 1, name + 1, strlen(name) - 1);
    lab.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    EXPECT_INT(bind(lab.listener, (struct sockaddr *)&address, (socklen_t)(2 + strlen(name))), 0);
    EXPECT_INT(listen(lab.listener, 4), 0);
    int connection = lab_serve(&lab, "Monitor");
    lab_send(connection, REPORT("wired", "initial"));
    lab_await_events(&lab, 2);
    close(connection);
    lab_close(&lab);
}

static void a_socket_that_appears_is_tried_at_once(void)
{
    struct lab lab;
    char folder[192];
    lab_open(&lab);
    reach_client_free(lab.client);
    /* Two folders are missing on the way. */
    snprintf(folder, sizeof folder, "%s/a/b", lab.folder);
    snprintf(lab.socket, sizeof lab.socket, "%s/a/b/s", lab.folder);
    EXPECT_INT(reach_client_new(&lab.client, lab.socket), 0);
    reach_client_monitor(lab.client, 0, lab_changed, &lab);
    lab_await_events(&lab, 1);
    EXPECT_INT(lab.events[0].error, REACH_ERROR_NO_SERVICE);
    EXPECT_INT(reach_client_connection(lab.client), REACH_CONNECTION_AWAY);
    /* After some tries by time there is no time limit any more: nothing wakes up until the socket appears. */
    while (reach_client_timeout(lab.client) >= 0) reach_client_run_once(lab.client, -1);
    lab_idle(&lab, 50);
    char first[192];
    snprintf(first, sizeof first, "%s/a", lab.folder);
    mkdir(first, 0755);
    reach_client_run_once(lab.client, 1000);
    mkdir(folder, 0755);
    reach_client_run_once(lab.client, 1000);
    while (reach_client_timeout(lab.client) >= 0) reach_client_run_once(lab.client, -1);
    lab_listen(&lab);
    int connection = lab_serve(&lab, "Monitor");
    lab_send(connection, REPORT("wired", "initial"));
    lab_await_events(&lab, 2);
    EXPECT_INT(lab.events[1].event, REACH_EVENT_INITIAL);
    close(connection);
    unlink(lab.socket);
    rmdir(folder);
    rmdir(first);
    lab_close(&lab);
}

static void a_full_queue_is_waited_for(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    EXPECT_INT(listen(lab.listener, 0), 0);
    /* The first fills the queue. */
    for (int i = 0; i < 4; i++) reach_client_get_status(lab.client, 10000, lab_answered, &lab, NULL);
    reach_client_run_once(lab.client, 1000);
    for (int i = 0; i < 4; i++) {
        int connection = lab_serve(&lab, "GetStatus");
        lab_send(connection, ANSWER);
        lab_await_answers(&lab, i + 1);
        EXPECT_INT(lab.answers[i].error, 0);
        close(connection);
    }
    lab_close(&lab);
}

static void a_full_queue_that_stays_so_is_an_error(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    EXPECT_INT(listen(lab.listener, 0), 0);
    for (int i = 0; i < 2; i++) reach_client_get_status(lab.client, 300, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 2);
    /* One was connected and not answered, the other found no room. */
    EXPECT_INT(lab.answers[0].error + lab.answers[1].error, REACH_ERROR_BUSY + REACH_ERROR_TIMED_OUT);
    lab_close(&lab);
}

static void changes_are_followed_byte_by_byte(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    EXPECT_INT(reach_client_connection(lab.client), REACH_CONNECTION_NONE);
    EXPECT_INT(reach_client_monitor(lab.client, 0, lab_changed, &lab), 0);
    EXPECT_INT(reach_client_connection(lab.client), REACH_CONNECTION_STARTING);
    EXPECT(reach_client_report(lab.client) == NULL);
    int connection = lab_accept(&lab);
    const char *call = lab_call(&lab, connection);
    EXPECT_TEXT(call, "{\"method\":\"io.reach.Reachability.Monitor\",\"parameters\":{},\"more\":true}");
    const char *messages[] = {REPORT("wired", "initial"), REPORT("unreachable", "status"),
                              REPORT("wifi", "status"),   REPORT("wifi", "path"),
                              REPORT("wifi", "internet"), REPORT("cellular", "later")};
    for (int i = 0; i < 6; i++) {
        for (size_t at = 0; at <= strlen(messages[i]); at++) {
            EXPECT_INT(lab.event_count, i);
            EXPECT_INT(send(connection, messages[i] + at, 1, 0), 1);
            EXPECT(reach_client_run_once(lab.client, 20000) >= 0);
        }
        lab_await_events(&lab, i + 1);
    }
    reach_event due[] = {REACH_EVENT_INITIAL, REACH_EVENT_STATUS,   REACH_EVENT_STATUS,
                         REACH_EVENT_PATH,    REACH_EVENT_INTERNET, REACH_EVENT_OTHER};
    for (int i = 0; i < 6; i++) EXPECT_INT(lab.events[i].event, due[i]);
    EXPECT_INT(lab.events[1].status, REACH_STATUS_UNREACHABLE);
    EXPECT_INT(lab.events[5].status, REACH_STATUS_OTHER);
    EXPECT_INT(reach_client_connection(lab.client), REACH_CONNECTION_PRESENT);
    const reach_report *report = reach_client_report(lab.client);
    EXPECT_INT(reach_report_status(report), REACH_STATUS_OTHER);
    reach_report_unref(report);
    close(connection);
    lab_close(&lab);
}

static void many_changes_in_one_piece_come_in_their_order(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    reach_client_monitor(lab.client, REACH_MONITOR_STATUS_ONLY, lab_changed, &lab);
    int connection = lab_serve(&lab, "\"statusOnly\":true");
    lab_send(connection, REPORT("wired", "initial"));
    for (int i = 0; i < 40; i++)
        lab_send(connection, i % 2 ? REPORT("wifi", "status") : REPORT("unreachable", "status"));
    lab_await_events(&lab, 41);
    for (int i = 1; i < 41; i++)
        EXPECT_INT(lab.events[i].status, i % 2 ? REACH_STATUS_UNREACHABLE : REACH_STATUS_WIFI);
    close(connection);
    lab_close(&lab);
}

static void a_restart_is_reported_and_survived(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    reach_client_monitor(lab.client, 0, lab_changed, &lab);
    int connection = lab_serve(&lab, "Monitor");
    lab_send(connection, REPORT("wired", "initial"));
    lab_await_events(&lab, 1);
    for (int round = 0; round < 3; round++) {
        lab.event_count = 1;
        /* In the middle of a message. */
        EXPECT_INT(send(connection, "{\"parameters\":{\"sta", 18, 0), 18);
        close(connection);
        lab_end_service(&lab);
        lab_await_events(&lab, 2);
        EXPECT_INT(lab.events[1].event, REACH_EVENT_AWAY);
        EXPECT_INT(lab.events[1].error, REACH_ERROR_DISCONNECTED);
        EXPECT(reach_client_report(lab.client) == NULL);
        EXPECT_INT(reach_client_connection(lab.client), REACH_CONNECTION_AWAY);
        /* The next try finds no socket, which is another reason. */
        lab_await_events(&lab, 3);
        EXPECT_INT(lab.events[2].error, REACH_ERROR_NO_SERVICE);
        lab_listen(&lab);
        connection = lab_serve(&lab, "Monitor");
        lab_send(connection, REPORT("wifi", "initial"));
        lab_await_events(&lab, 4);
        EXPECT_INT(lab.events[3].event, REACH_EVENT_INITIAL);
        EXPECT_INT(lab.events[3].status, REACH_STATUS_WIFI);
        EXPECT_INT(reach_client_connection(lab.client), REACH_CONNECTION_PRESENT);
        for (int i = 1; i < 4; i++) reach_reply_unref(lab.events[i].reply);
    }
    lab.event_count = 1;
    close(connection);
    lab_close(&lab);
}

static void what_is_no_reply_ends_the_connection(void)
{
    static const char *const garbage[] = {
        "HTTP/1.1 400 Bad Request\r\n", "{}", "[]", "{\"parameters\":{\"status\":7},\"continues\":true}",
        "{\"parameters\":{\"status\":\"\xff\"},\"continues\":true}"};
    for (int i = 0; i < 5; i++) {
        struct lab lab;
        lab_open(&lab);
        lab_listen(&lab);
        reach_client_monitor(lab.client, 0, lab_changed, &lab);
        reach_client_call(lab.client, "GetInfo", NULL, 5000, lab_answered, &lab, NULL);
        int monitor = lab_serve(&lab, "Monitor"), call = lab_serve(&lab, "GetInfo");
        lab_send(monitor, garbage[i]);
        lab_send(call, garbage[i]);
        lab_expect_closed(&lab, monitor);
        lab_expect_closed(&lab, call);
        lab_await_answers(&lab, 1);
        EXPECT_INT(lab.events[0].event, REACH_EVENT_AWAY);
        EXPECT_INT(lab.events[0].error, REACH_ERROR_PROTOCOL);
        /* An object is an answer to a call, and no report. */
        EXPECT_INT(lab.answers[0].error, i == 1 || i == 3 ? 0 : REACH_ERROR_PROTOCOL);
        lab_close(&lab);
    }
}

static void errors_for_a_monitor_are_reported(void)
{
    struct lab lab;
    lab_open(&lab);
    lab_listen(&lab);
    reach_client_monitor(lab.client, 0, lab_changed, &lab);
    int connection = lab_serve(&lab, "Monitor");
    lab_send(
        connection,
        "{\"error\":\"io.reach.Reachability.LimitReached\",\"parameters\":{\"reason\":\"too many\"}}");
    lab_expect_closed(&lab, connection);
    EXPECT_INT(lab.event_count, 1);
    EXPECT_INT(lab.events[0].error, REACH_ERROR_LIMIT);
    EXPECT_TEXT(reach_reply_message(lab.events[0].reply), "too many");
    EXPECT_TEXT(reach_reply_error_name(lab.events[0].reply), "io.reach.Reachability.LimitReached");
    /* It is tried again. */
    connection = lab_serve(&lab, "Monitor");
    lab_send(connection, REPORT("wired", "initial"));
    lab_await_events(&lab, 2);
    close(connection);
    lab_close(&lab);
}

static void a_flood_without_an_end_is_cut_off(void)
{
    struct lab lab;
    char piece[65536];
    lab_open(&lab);
    lab_listen(&lab);
    reach_client_get_status(lab.client, 60000, lab_answered, &lab, NULL);
    int connection = lab_serve(&lab, "GetStatus");
    memset(piece, ' ', sizeof piece);
    while (lab.answer_count == 0) {
        send(connection, piece, sizeof piece, MSG_NOSIGNAL);
        EXPECT(reach_client_run_once(lab.client, 20000) >= 0);
    }
    EXPECT_INT(lab.answers[0].error, REACH_ERROR_PROTOCOL);
    close(connection);
    lab_close(&lab);
}

const struct test tests[] = {
    {"C-060 no socket and a socket without a listener are told apart", absent_services_are_told_apart},
    {"C-061 a socket without permission is told apart, and used once there is one",
     a_socket_without_permission_is_told_apart},
    {"C-062 no service is asked where the path is empty", no_service_is_asked_where_the_path_is_empty},
    {"C-063 the socket is named by the environment, and not longer than a socket's path may be",
     the_socket_is_named_by_the_environment},
    {"C-064 abstract sockets are reached, and found by time", abstract_sockets_are_reached},
    {"C-065 a socket that appears is tried at once, also when its folders are missing; meanwhile nothing "
     "wakes up",
     a_socket_that_appears_is_tried_at_once},
    {"C-066 a full queue is waited for", a_full_queue_is_waited_for},
    {"C-067 a full queue that stays so is an error within the time limit",
     a_full_queue_that_stays_so_is_an_error},
    {"C-068 changes are followed, byte by byte", changes_are_followed_byte_by_byte},
    {"C-069 many changes in one piece come in their order", many_changes_in_one_piece_come_in_their_order},
    {"C-070 a restart is reported, survived, and reported again", a_restart_is_reported_and_survived},
    {"C-071 what is no reply ends the connection", what_is_no_reply_ends_the_connection},
    {"C-072 errors for a monitor are reported, with the service's reason", errors_for_a_monitor_are_reported},
    {"C-073 a message without an end is cut off", a_flood_without_an_end_is_cut_off},
    {NULL, NULL},
};
