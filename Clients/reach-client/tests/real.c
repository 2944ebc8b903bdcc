/* SPDX-License-Identifier: Apache-2.0 */
/* Against the service itself, in a network namespace with a cable: see the script real. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab.h"

/* Runs a command of the shell; fails where it fails. */
static void shell(const char *command)
{
    int status = system(command);
    if (status != 0) test_fail(__FILE__, __LINE__, "%s ended with %d", command, status);
}

static pid_t start_service(const struct lab *lab)
{
    const char *program = getenv("REACH_PROGRAM");
    char state[128], log[128];
    snprintf(state, sizeof state, "%s/state", lab->folder);
    snprintf(log, sizeof log, "%s/log", lab->folder);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen(log, "a", stderr)) _exit(127);
        execl(program, program, "serve", "--socket", lab->socket, "--state-directory", state, NULL);
        _exit(127);
    }
    EXPECT(child > 0);
    return child;
}

static void end_service(pid_t service, int signal)
{
    kill(service, signal);
    waitpid(service, NULL, 0);
}

static void close_lab(struct lab *lab)
{
    char command[256];
    snprintf(
        command, sizeof command, "rm -rf %s/state %s/log %s/socket*", lab->folder, lab->folder, lab->folder);
    shell(command);
    lab_close(lab);
}

/* The namespace as each test finds it: a cable with an address and a default route, and the far end. */
static void lay_cable(void)
{
    if (system("ip link delete cable 2>/dev/null") < 0) abort();
    shell(
        "ip link set lo up && ip link add cable type veth peer name far && ip link set cable up && ip link "
        "set far up &&"
        "ip address add 192.0.2.2/24 dev cable && ip route add default via 192.0.2.1");
}

/* Runs the client until an event of this kind says so. */
static int await_event(struct lab *lab, int from, reach_event event, reach_status status)
{
    for (;; lab_await_events(lab, from + 1)) {
        for (; from < lab->event_count; from++) {
            if (lab->events[from].event == event && lab->events[from].status == status) return from;
        }
    }
}

static void the_client_waits_for_its_service(struct lab *lab)
{
    int before = lab->answer_count;
    reach_wait_options options = {.size = sizeof options, .await_service = true};
    EXPECT_INT(reach_client_wait(lab->client, &options, 20000, lab_answered, lab, NULL), 0);
    lab_await_answers(lab, before + 1);
    EXPECT_TEXT(reach_reply_message(lab->answers[before].reply), "");
}

static void a_pulled_cable_is_followed(void)
{
    struct lab lab;
    lay_cable();
    lab_open(&lab);
    pid_t service = start_service(&lab);
    reach_client_monitor(lab.client, 0, lab_changed, &lab);
    int at = await_event(&lab, 0, REACH_EVENT_INITIAL, REACH_STATUS_WIRED);
    for (int round = 0; round < 2; round++) {
        shell("ip link set far down");
        at = await_event(&lab, at + 1, REACH_EVENT_PATH, REACH_STATUS_WIRED);
        EXPECT(!reach_report_is_online(reach_reply_report(lab.events[at].reply)));
        EXPECT_INT(
            reach_report_reason_code(reach_reply_report(lab.events[at].reply)), REACH_REASON_LINK_DOWN);
        EXPECT_TEXT(reach_report_reason(reach_reply_report(lab.events[at].reply)), "cable: no carrier");
        at = await_event(&lab, at + 1, REACH_EVENT_STATUS, REACH_STATUS_UNREACHABLE);
        EXPECT_INT(reach_report_previous(reach_reply_report(lab.events[at].reply)), REACH_STATUS_WIRED);
        shell("ip link set far up");
        at = await_event(&lab, at + 1, REACH_EVENT_STATUS, REACH_STATUS_WIRED);
        EXPECT(reach_report_is_online(reach_reply_report(lab.events[at].reply)));
    }
    const reach_report *report = reach_client_report(lab.client);
    EXPECT_TEXT(reach_report_interface(report), "cable");
    EXPECT_TEXT(reach_report_source(report), "192.0.2.2");
    EXPECT_TEXT(reach_report_gateway(report), "192.0.2.1");
    EXPECT_INT(reach_report_internet(report), REACH_INTERNET_NOT_PROBED);
    EXPECT(reach_report_has_ipv4(report) && reach_report_link_count(report) >= 2);
    int64_t since;
    EXPECT(reach_report_since(report, &since) && since > 1700000000000);
    reach_report_unref(report);
    end_service(service, SIGTERM);
    close_lab(&lab);
}

static void a_restarted_service_is_followed(void)
{
    struct lab lab;
    lay_cable();
    lab_open(&lab);
    pid_t service = start_service(&lab);
    reach_client_monitor(lab.client, 0, lab_changed, &lab);
    int at = await_event(&lab, 0, REACH_EVENT_INITIAL, REACH_STATUS_WIRED);
    const int signals[] = {SIGKILL, SIGTERM};
    shell("ip link set far down");
    at = await_event(&lab, at + 1, REACH_EVENT_STATUS, REACH_STATUS_UNREACHABLE);
    /* Its wait continues with the next service. */
    reach_client_wait(lab.client, NULL, 60000, lab_answered, &lab, NULL);
    EXPECT_INT(reach_client_run_once(lab.client, 1000), 0);
    for (int i = 0; i < 2; i++) {
        end_service(service, signals[i]);
        lab_await_events(&lab, at + 2);
        EXPECT_INT(lab.events[at + 1].event, REACH_EVENT_AWAY);
        EXPECT_INT(lab.events[at + 1].error, REACH_ERROR_DISCONNECTED);
        lab_await_events(&lab, at + 3);
        /* A service that was killed leaves its socket behind. */
        EXPECT_INT(lab.events[at + 2].error, i == 0 ? REACH_ERROR_NOT_RUNNING : REACH_ERROR_NO_SERVICE);
        service = start_service(&lab);
        at = await_event(&lab, at + 3, REACH_EVENT_INITIAL, REACH_STATUS_UNREACHABLE);
    }
    if (lab.answer_count > 0)
        test_fail(__FILE__, __LINE__, "it ended with %s", reach_reply_message(lab.answers[0].reply));
    shell("ip link set far up");
    lab_await_answers(&lab, 1);
    EXPECT_INT(lab.answers[0].error, 0);
    EXPECT_INT(lab.answers[0].status, REACH_STATUS_WIRED);
    end_service(service, SIGTERM);
    close_lab(&lab);
}

static void waits_end_as_the_service_says(void)
{
    struct lab lab;
    lay_cable();
    lab_open(&lab);
    pid_t service = start_service(&lab);
    the_client_waits_for_its_service(&lab);
    reach_wait_options wifi = {.size = sizeof wifi, .goal = REACH_GOAL_WIFI};
    reach_client_wait(lab.client, &wifi, 100, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 2);
    EXPECT_INT(lab.answers[1].error, REACH_ERROR_TIMED_OUT);
    EXPECT_TEXT(reach_reply_error_name(lab.answers[1].reply), "io.reach.Reachability.TimedOut");
    EXPECT_HAS(
        reach_reply_message(lab.answers[1].reply),
        "not reachable by Wi-Fi: default route via 192.0.2.1 on cable");
    reach_wait_options internet = {.size = sizeof internet, .goal = REACH_GOAL_INTERNET};
    reach_client_wait(lab.client, &internet, 100, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 3);
    EXPECT_INT(lab.answers[2].error, REACH_ERROR_UNAVAILABLE);
    const char *interfaces[] = {"cable", NULL};
    reach_wait_options carrier = {
        .size = sizeof carrier, .interfaces = interfaces, .no_carrier_ms = 50, .stable_ms = 60000};
    shell("ip link set far down");
    reach_client_wait(lab.client, &carrier, 20000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 4);
    EXPECT_INT(lab.answers[3].error, REACH_ERROR_NO_CARRIER);
    end_service(service, SIGTERM);
    close_lab(&lab);
}

static void hosts_are_explained(void)
{
    static const struct {
        const char *host;
        bool online;
        reach_reason reason;
    } hosts[] = {
        {"192.0.2.77", true, REACH_REASON_HOST_ROUTE},
        {"127.0.0.1", true, REACH_REASON_LOCAL},
        {"203.0.113.1", true, REACH_REASON_DEFAULT_ROUTE},
        {"2001:db8::1", false, REACH_REASON_NO_ROUTE},
        {"198.51.100.1", false, REACH_REASON_BLACKHOLE},
        {"localhost", true, REACH_REASON_LOCAL},
        {"no.such.host.invalid", false, REACH_REASON_UNRESOLVED},
    };
    struct lab lab;
    lay_cable();
    shell("ip route add blackhole 198.51.100.0/24");
    lab_open(&lab);
    pid_t service = start_service(&lab);
    the_client_waits_for_its_service(&lab);
    for (int i = 0; i < 7; i++) {
        reach_client_explain(lab.client, hosts[i].host, 20000, lab_answered, &lab, NULL);
        lab_await_answers(&lab, i + 2);
        const reach_report *report = reach_reply_report(lab.answers[i + 1].reply);
        EXPECT_INT(lab.answers[i + 1].error, 0);
        EXPECT_TEXT(reach_report_host(report), hosts[i].host);
        if (reach_report_is_online(report) != hosts[i].online ||
            reach_report_reason_code(report) != hosts[i].reason) {
            test_fail(__FILE__, __LINE__, "%s: %s", hosts[i].host, reach_report_json(report, NULL));
        }
        EXPECT(reach_report_step_count(report) > 0);
        EXPECT(*reach_step_question(reach_report_step(report, 0)));
    }
    shell("ip route delete blackhole 198.51.100.0/24");
    reach_client_explain(lab.client, "a b", 20000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 9);
    EXPECT_INT(lab.answers[8].error, REACH_ERROR_INVALID_PARAMETER);
    EXPECT_HAS(reach_reply_message(lab.answers[8].reply), "host");
    end_service(service, SIGTERM);
    close_lab(&lab);
}

/* A web server that accepts what is posted to /accepts, has a file at /file, and refuses the rest. */
static pid_t start_web_server(void)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(8080), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    EXPECT_INT(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    EXPECT_INT(listen(listener, 16), 0);
    pid_t child = fork();
    if (child != 0) {
        close(listener);
        return child;
    }
    for (;;) {
        static char request[65536];
        int connection = accept(listener, NULL, NULL);
        ssize_t count = 0, more;
        while (!strstr(request, strncmp(request, "GET", 3) == 0 ? "\r\n\r\n" : "\r\n\r\nhello")) {
            more = recv(connection, request + count, sizeof request - 1 - (size_t)count, 0);
            if (more <= 0) break;
            count += more;
            request[count] = 0;
        }
        const char *answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        if (strstr(request, "POST /accepts "))
            answer = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
        else if (strstr(request, "GET /file "))
            answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
        send(connection, answer, strlen(answer), MSG_NOSIGNAL);
        close(connection);
        memset(request, 0, sizeof request);
    }
}

static void requests_are_delivered(void)
{
    struct lab lab;
    char id[3][32], call[64];
    lay_cable();
    lab_open(&lab);
    pid_t server = start_web_server(), service = start_service(&lab);
    the_client_waits_for_its_service(&lab);
    const char *urls[] = {
        "http://127.0.0.1:8080/accepts", "http://127.0.0.1:8080/refuses", "http://192.0.2.77/"};
    for (int i = 0; i < 3; i++) {
        reach_request request = {
            .size = sizeof request,
            .url = urls[i],
            .body = "hello",
            .body_length = 5,
            .lane = i == 2 ? "far" : NULL};
        EXPECT_INT(reach_client_enqueue(lab.client, &request, 20000, lab_answered, &lab, NULL), 0);
        lab_await_answers(&lab, i + 2);
        EXPECT_INT(lab.answers[i + 1].error, 0);
        snprintf(id[i], sizeof id[i], "%s", reach_reply_entry_id(lab.answers[i + 1].reply));
        EXPECT(!reach_reply_is_repeated(lab.answers[i + 1].reply));
    }
    /* The first may have left before it is waited for. */
    reach_client_wait_outbox(lab.client, id[1], 20000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 5);
    EXPECT_INT(lab.answers[4].error, 0);
    EXPECT_INT(reach_reply_outcome(lab.answers[4].reply), REACH_OUTCOME_DEAD);
    EXPECT_INT(reach_reply_failure(lab.answers[4].reply), REACH_FAILURE_REFUSED);
    EXPECT_INT(reach_reply_status_code(lab.answers[4].reply), 404);
    reach_client_list_outbox(lab.client, NULL, 0, 20000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 6);
    size_t count = reach_reply_entry_count(lab.answers[5].reply);
    EXPECT(count >= 2 && reach_reply_entry_total(lab.answers[5].reply) == (int64_t)count);
    const reach_entry *entry = reach_reply_entry(lab.answers[5].reply, count - 2);
    EXPECT_TEXT(reach_entry_id(entry), id[1]);
    EXPECT(reach_entry_is_dead(entry));
    EXPECT_TEXT(reach_entry_url(entry), urls[1]);
    EXPECT_INT(reach_entry_bytes(entry), 5);
    /* What is given up is followed no further: the one reply has the server's answer. */
    reach_client_follow_outbox(lab.client, id[1], NULL, NULL, 20000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 7);
    EXPECT_INT(lab.answers[6].error, 0);
    EXPECT(!reach_reply_continues(lab.answers[6].reply));
    EXPECT_INT(reach_reply_change(lab.answers[6].reply), REACH_CHANGE_DEAD);
    EXPECT_INT(reach_reply_outcome(lab.answers[6].reply), REACH_OUTCOME_DEAD);
    EXPECT(reach_entry_is_dead(reach_reply_changed_entry(lab.answers[6].reply)));
    EXPECT_INT(
        reach_value_integer(reach_value_member(reach_reply_answer(lab.answers[6].reply), "statusCode")), 404);
    /* One that waits is followed over a restart, then removed. */
    reach_client_wait_outbox(lab.client, id[2], REACH_NO_TIMEOUT, lab_answered, &lab, NULL);
    lab_idle(&lab, 1100);
    end_service(service, SIGTERM);
    service = start_service(&lab);
    the_client_waits_for_its_service(&lab);
    int count_before = lab.answer_count + 1;
    for (;;) {
        /* The outbox is open again, and the wait is under way: no pause is left. */
        reach_client_list_outbox(lab.client, NULL, 0, 20000, lab_answered, &lab, NULL);
        lab_await_answers(&lab, count_before);
        if (lab.answers[count_before - 1].error == 0 && reach_client_timeout(lab.client) < 0) break;
        reach_reply_unref(lab.answers[--lab.answer_count].reply);
        reach_client_run_once(lab.client, 50);
    }
    snprintf(call, sizeof call, "{\"id\":\"%s\"}", id[2]);
    reach_client_call(lab.client, "RemoveOutbox", call, 20000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, count_before + 2);
    int removed = count_before;
    if (reach_reply_outcome(lab.answers[removed].reply) == REACH_OUTCOME_NONE) removed++;
    EXPECT_TEXT(reach_reply_message(lab.answers[removed].reply), "");
    EXPECT_INT(reach_reply_outcome(lab.answers[removed].reply), REACH_OUTCOME_REMOVED);
    reach_client_wait_outbox(lab.client, "999999", 20000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, count_before + 3);
    EXPECT_INT(lab.answers[count_before + 2].error, REACH_ERROR_NO_SUCH_ENTRY);
    end_service(service, SIGTERM);
    end_service(server, SIGKILL);
    close_lab(&lab);
}

static void a_file_is_fetched(void)
{
    struct lab lab;
    char path[128], content[8] = "";
    const char *mirrors[] = {"http://127.0.0.1:8080/file", NULL};
    lay_cable();
    lab_open(&lab);
    pid_t server = start_web_server(), service = start_service(&lab);
    the_client_waits_for_its_service(&lab);
    snprintf(path, sizeof path, "%s/state/fetched/a", lab.folder);
    /* The first URL does not have it. */
    reach_request request = {.size = sizeof request, .url = "http://127.0.0.1:8080/missing"};
    reach_fetch fetch = {
        .size = sizeof fetch,
        .file = path,
        .sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        .mirrors = mirrors,
        .mode = 0600};
    reach_client_enqueue_fetch(lab.client, &request, &fetch, 20000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 2);
    EXPECT_TEXT(reach_reply_message(lab.answers[1].reply), "");
    reach_client_wait_outbox(
        lab.client, reach_reply_entry_id(lab.answers[1].reply), 20000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 3);
    EXPECT_TEXT(reach_reply_message(lab.answers[2].reply), "");
    EXPECT_INT(reach_reply_outcome(lab.answers[2].reply), REACH_OUTCOME_DELIVERED);
    EXPECT_TEXT(reach_reply_file(lab.answers[2].reply), path);
    EXPECT_INT(reach_reply_file_bytes(lab.answers[2].reply), 5);
    struct stat status;
    FILE *file = fopen(path, "r");
    EXPECT(file && fread(content, 1, sizeof content, file) == 5);
    EXPECT(fstat(fileno(file), &status) == 0 && (status.st_mode & 07777) == 0600);
    fclose(file);
    EXPECT_TEXT(content, "hello");
    fetch.file = "/etc/reach-fetched";
    reach_client_enqueue_fetch(lab.client, &request, &fetch, 20000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 4);
    EXPECT_INT(lab.answers[3].error, REACH_ERROR_BAD_REQUEST);
    EXPECT_HAS(reach_reply_message(lab.answers[3].reply), "/etc/reach-fetched");
    end_service(service, SIGTERM);
    end_service(server, SIGKILL);
    close_lab(&lab);
}

static void other_users_may_ask_and_not_send(void)
{
    struct lab lab;
    lay_cable();
    lab_open(&lab);
    pid_t service = start_service(&lab);
    the_client_waits_for_its_service(&lab);
    if (setegid(65534) != 0) {
        /* A user namespace with one user has no other. */
        puts("C-135 needs root");
        end_service(service, SIGTERM);
        close_lab(&lab);
        return;
    }
    EXPECT_INT(seteuid(65534), 0);
    reach_client_get_status(lab.client, 20000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 2);
    EXPECT_INT(lab.answers[1].error, 0);
    reach_request request = {.size = sizeof request, .url = "http://192.0.2.77/"};
    reach_client_enqueue(lab.client, &request, 20000, lab_answered, &lab, NULL);
    lab_await_answers(&lab, 3);
    EXPECT_INT(lab.answers[2].error, REACH_ERROR_PERMISSION);
    EXPECT_INT(seteuid(0), 0);
    EXPECT_INT(setegid(0), 0);
    end_service(service, SIGTERM);
    close_lab(&lab);
}

/* Lines of the shell, after each of which both say the same. */
static const char *const changes[] = {
    "true",
    "ip link set far down",
    "ip link set far up",
    "ip link set cable down",
    "ip link set cable up",
    "ip route replace default via 192.0.2.1",
    "ip route delete default",
    "ip route add prohibit default",
    "ip route delete prohibit default",
    "ip route add blackhole default",
    "ip route delete blackhole default",
    "ip route add unreachable default",
    "ip route delete unreachable default",
    "{ ip link add drop type dummy 2>/dev/null || ip link add drop type ifb; } && ip link set drop up && ip "
    "address add 198.51.100.2/24 dev drop && ip route add default dev drop",
    "ip link delete drop",
    "ip -6 address add 2001:db8::2/64 dev cable nodad && ip -6 route add default via 2001:db8::1",
    "ip -6 address delete 2001:db8::2/64 dev cable",
    "ip -6 route flush default",
    "ip route add default via 192.0.2.1",
    "ip rule add from all prohibit priority 10",
    "ip rule delete from all prohibit priority 10",
    "ip address flush dev cable",
    "ip address add 169.254.7.7/16 dev cable scope link && ip route add default dev cable",
    "ip address flush dev cable && ip address add 192.0.2.2/24 dev cable && ip route add default via "
    "192.0.2.1",
    NULL,
};

static void the_direct_status_is_the_services(void)
{
    struct lab lab;
    lay_cable();
    lab_open(&lab);
    pid_t service = start_service(&lab);
    the_client_waits_for_its_service(&lab);
    for (int i = 0; changes[i]; i++) {
        const reach_report *direct;
        char code[64];
        shell(changes[i]);
        EXPECT_INT(reach_client_status_direct(&direct), 0);
        EXPECT(reach_value_bool(reach_value_member(reach_report_value(direct), "direct")));
        /* A fresh look of the service, without the 500 ms of its status. */
        reach_client_explain(lab.client, NULL, 20000, lab_answered, &lab, NULL);
        lab_await_answers(&lab, i + 2);
        const reach_report *due = reach_reply_report(lab.answers[i + 1].reply);
        snprintf(code, sizeof code, "%d %d", reach_report_is_online(due), reach_report_status(due));
        bool is_same = reach_report_is_online(direct) == reach_report_is_online(due) &&
                       reach_report_status(direct) == reach_report_status(due) &&
                       (!reach_report_is_online(due) ||
                        strcmp(reach_report_interface(direct), reach_report_interface(due)) == 0) &&
                       (!reach_report_is_online(due) ||
                        strcmp(reach_report_source(direct), reach_report_source(due)) == 0);
        if (!is_same) {
            test_fail(
                __FILE__, __LINE__, "after '%s':\n%s\n%s", changes[i], reach_report_json(direct, NULL),
                reach_report_json(due, NULL));
        }
        reach_report_unref(direct);
    }
    end_service(service, SIGTERM);
    close_lab(&lab);
}

const struct test tests[] = {
    {"C-130 a pulled cable is followed", a_pulled_cable_is_followed},
    {"C-131 a service that is killed or restarted is followed, and a wait goes on",
     a_restarted_service_is_followed},
    {"C-132 waits end as the service says", waits_end_as_the_service_says},
    {"C-133 hosts are explained", hosts_are_explained},
    {"C-134 requests are delivered, listed, followed over a restart, removed", requests_are_delivered},
    {"C-137 a file is fetched from its second URL, and none into any folder", a_file_is_fetched},
    {"C-135 other users may ask, and not send", other_users_may_ask_and_not_send},
    {"C-136 the direct status is the service's, in twenty-four states of the network",
     the_direct_status_is_the_services},
    {NULL, NULL},
};
