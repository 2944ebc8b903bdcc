/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and replies: their frames, their members, their words. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "frame.h"
#include "reply.h"
#include "test.h"
#include "words.h"

static void expect_frame(struct frame *frame, const char *due)
{
    const char *message;
    size_t length;
    enum frame_result result = frame_next(frame, &message, &length);
    EXPECT_INT(result, due ? FRAME_MESSAGE : FRAME_INCOMPLETE);
    if (!due) return;
    EXPECT_TEXT(message, due);
    EXPECT_INT(length, strlen(due));
}

static void frames_come_in_any_pieces(void)
{
    static const char stream[] = "{\"a\":1}\0\0{}\0x";
    for (size_t piece = 1; piece <= sizeof stream - 1; piece++) {
        struct frame frame = {0};
        const char *due[] = {"{\"a\":1}", "", "{}"};
        size_t found = 0;
        for (size_t at = 0; at < sizeof stream - 1; at += piece) {
            size_t count = sizeof stream - 1 - at < piece ? sizeof stream - 1 - at : piece;
            const char *message;
            size_t length;
            EXPECT(frame_add(&frame, stream + at, count));
            while (frame_next(&frame, &message, &length) == FRAME_MESSAGE) EXPECT_TEXT(message, due[found++]);
        }
        EXPECT_INT(found, 3);
        EXPECT_INT(frame.bytes.count - frame.start, 1);
        frame_free(&frame);
    }
}

static void an_idle_frame_holds_no_memory(void)
{
    struct frame frame = {0};
    EXPECT(frame_add(&frame, "{}", 3));
    expect_frame(&frame, "{}");
    expect_frame(&frame, NULL);
    EXPECT(frame.bytes.data == NULL);
}

static void endless_messages_are_refused(void)
{
    struct frame frame = {0};
    char piece[65536];
    const char *message;
    size_t length, sent = 0;
    memset(piece, 'x', sizeof piece);
    for (;;) {
        EXPECT(frame_add(&frame, piece, sizeof piece));
        sent += sizeof piece;
        if (frame_next(&frame, &message, &length) == FRAME_TOO_LONG) break;
        EXPECT(sent <= FRAME_LIMIT);
    }
    EXPECT_INT(sent, FRAME_LIMIT + sizeof piece);
    frame_free(&frame);
}

static void expect_time(const char *text, int64_t due)
{
    int64_t is = 7;
    EXPECT(time_read(text, &is));
    EXPECT_INT(is, due);
}

static void times_are_read(void)
{
    expect_time("1970-01-01T00:00:00Z", 0);
    expect_time("2026-11-26T12:34:56.789Z", 1795696496789);
    expect_time("2024-02-29T23:59:59.9Z", 1709251199900);
    expect_time("2000-03-01T00:00:00.123456789Z", 951868800123);
    expect_time("1969-12-31T23:59:59Z", -1000);
    expect_time("2262-04-11T23:47:16.854Z", 9223372036854);
    const char *refused[] = {
        "",
        "2026",
        "2026-11-26",
        "2026-13-26T12:34:56Z",
        "2026-11-26T24:00:00Z",
        "2026-11-26 12:34:56Z",
        "2026-11-26T12:34:56",
        "2026-11-26T12:34:56+01:00",
        "2026-11-26T12:34:56.Z x",
        "x026-11-26T12:34:56Z",
        NULL};
    for (const char **text = refused; *text; text++) {
        int64_t is = 7;
        EXPECT(!time_read(*text, &is));
        EXPECT_INT(is, 7);
    }
    int64_t is;
    EXPECT(!time_read(NULL, &is));
}

static void words_become_values(void)
{
    EXPECT_INT(word_status("unknown"), -1);
    EXPECT_INT(word_status("unreachable"), 0);
    EXPECT_INT(word_status("wifi"), 2);
    EXPECT_INT(word_status("wired"), 3);
    EXPECT_INT(word_status("cellular"), REACH_STATUS_OTHER);
    EXPECT_INT(word_status(NULL), REACH_STATUS_UNKNOWN);
    EXPECT_INT(word_internet(NULL), REACH_INTERNET_NOT_PROBED);
    EXPECT_INT(word_internet("none"), REACH_INTERNET_NONE);
    EXPECT_INT(word_internet("later"), REACH_INTERNET_OTHER);
    EXPECT_INT(word_metered("guess-no"), REACH_METERED_GUESS_NO);
    EXPECT_INT(word_metered("maybe"), REACH_METERED_OTHER);
    EXPECT_INT(word_medium("vlan"), REACH_MEDIUM_VLAN);
    EXPECT_INT(word_medium("other"), REACH_MEDIUM_OTHER);
    EXPECT_INT(word_reason("tunnelWithoutUnderlay"), REACH_REASON_TUNNEL_WITHOUT_UNDERLAY);
    EXPECT_INT(word_reason("waitingForAuthentication"), REACH_REASON_OTHER);
    EXPECT_INT(word_router("silent"), REACH_ROUTER_SILENT);
    EXPECT_INT(word_outcome("dead"), REACH_OUTCOME_DEAD);
    EXPECT_INT(word_failure("unsendable"), REACH_FAILURE_UNSENDABLE);
    EXPECT_INT(word_event("internet"), REACH_EVENT_INTERNET);
    EXPECT_INT(word_event("cost"), REACH_EVENT_OTHER);
}

static reach_reply *read_reply(const char *message, int due)
{
    int error = 1;
    reach_reply *reply = reply_read(message, strlen(message), &error);
    EXPECT_INT(error, due);
    EXPECT(!reply == (due != 0));
    return reply;
}

static void a_report_is_read(void)
{
    reach_reply *reply = read_reply(
        "{\"parameters\":{ "
        "\"status\":\"wired\",\"since\":\"2026-11-26T12:34:56.789Z\",\"interface\":\"eth0\","
        "\"medium\":\"ethernet\",\"online\":true,\"source\":\"192.0.2.2\",\"gateway\":null,\"signalDBm\":-61,"
        "\"families\":[\"ipv6\"],\"metered\":\"yes\",\"generation\":4,\"reason\":\"r\",\"reasonCode\":"
        "\"defaultRoute\","
        "\"links\":[{\"name\":\"eth0\",\"index\":4,\"online\":true,\"addresses\":[\"a/1\",\"b/"
        "2\"],\"router\":\"answers\","
        "\"internet\":\"full\"},7,{\"name\":\"wwan0\"}],\"internet\":\"portal\",\"event\":\"internet\","
        "\"previous\":\"wifi\","
        "\"later\":{\"x\":1} },\"continues\":true}",
        0);
    const reach_report *report = reach_reply_report(reply);
    const reach_link *link = reach_report_link(report, 0);
    int64_t since = 0;
    EXPECT_INT(reach_report_status(report), REACH_STATUS_WIRED);
    EXPECT_INT(reach_report_previous(report), REACH_STATUS_WIFI);
    EXPECT(reach_report_since(report, &since) && since == 1795696496789);
    EXPECT_TEXT(reach_report_interface(report), "eth0");
    EXPECT_TEXT(reach_report_gateway(report), NULL);
    EXPECT_TEXT(reach_report_internet_sentence(report), NULL);
    EXPECT_INT(reach_report_signal_dbm(report), -61);
    EXPECT(reach_report_has_ipv6(report) && !reach_report_has_ipv4(report));
    EXPECT_INT(reach_report_metered(report), REACH_METERED_YES);
    EXPECT_INT(reach_report_generation(report), 4);
    EXPECT_INT(reach_report_internet(report), REACH_INTERNET_PORTAL);
    EXPECT_INT(reach_report_link_count(report), 3);
    EXPECT_TEXT(reach_link_address(link, 1), "b/2");
    EXPECT_TEXT(reach_link_address(link, 2), NULL);
    EXPECT_INT(reach_link_router(link), REACH_ROUTER_ANSWERS);
    EXPECT_INT(reach_link_internet(link), REACH_INTERNET_FULL);
    EXPECT_INT(reach_link_index(link), 4);
    EXPECT(reach_report_link(report, 1) == NULL && reach_report_link(report, 3) == NULL);
    EXPECT_TEXT(reach_link_name(reach_report_link(report, 2)), "wwan0");
    EXPECT_INT(json_integer(reach_value_member(reach_report_value(report), "later"), "x"), 1);
    EXPECT_INT(reply_event(reply), REACH_EVENT_INTERNET);
    EXPECT(reply->continues);
    reach_reply_unref(reply);
}

static void the_json_of_a_reply_stays_as_it_came(void)
{
    size_t length;
    reach_reply *reply =
        read_reply("{\"continues\":false, \"parameters\" : { \"a\":1.50 , \"b\":\"\\u0041\" } , \"x\":1}", 0);
    EXPECT_TEXT(reach_reply_json(reply, &length), "{ \"a\":1.50 , \"b\":\"\\u0041\" }");
    EXPECT_INT(length, 27);
    EXPECT(reach_reply_report(reply) == NULL);
    reach_reply_unref(reply);
    /* A reply without parameters has none (varlink.org/Method-Call). */
    const char *empty[] = {"{}", "{\"parameters\":null}", "{\"parameters\":{}}", NULL};
    for (const char **message = empty; *message; message++) {
        reply = read_reply(*message, 0);
        EXPECT_TEXT(reach_reply_json(reply, NULL), "{}");
        EXPECT_INT(reach_value_count(reach_reply_parameters(reply)), 0);
        EXPECT_INT(reach_reply_error(reply), 0);
        reach_reply_unref(reply);
    }
}

static void what_is_no_reply_is_refused(void)
{
    const char *refused[] = {
        "",  "[]", "null", "7", "{\"parameters\":[]}", "{\"error\":7}", "{\"error\":\"x\"", "GET / HTTP/1.1",
        NULL};
    for (const char **message = refused; *message; message++) read_reply(*message, REACH_ERROR_PROTOCOL);
}

static void errors_of_the_service_are_told_apart(void)
{
    static const struct {
        const char *message;
        int error;
        const char *sentence;
    } known[] = {
        {"{\"error\":\"io.reach.Reachability.TimedOut\",\"parameters\":{\"reason\":\"not wifi: eth0\"}}",
         REACH_ERROR_TIMED_OUT, "not wifi: eth0"},
        {"{\"error\":\"io.reach.Reachability.NoCarrier\",\"parameters\":{\"reason\":\"r\"}}",
         REACH_ERROR_NO_CARRIER, "r"},
        {"{\"error\":\"io.reach.Reachability.LimitReached\",\"parameters\":{}}", REACH_ERROR_LIMIT,
         "a limit of the service is reached"},
        {"{\"error\":\"io.reach.Reachability.NoSuchEntry\",\"parameters\":{\"id\":\"9\"}}",
         REACH_ERROR_NO_SUCH_ENTRY, "the outbox has no such request: 9"},
        {"{\"error\":\"io.reach.Reachability.NameTaken\",\"parameters\":{}}", REACH_ERROR_NAME_TAKEN,
         "requests with this name wait in another lane"},
        {"{\"error\":\"io.reach.Reachability.BadRequest\",\"parameters\":{\"reason\":\"/etc: not below\"}}",
         REACH_ERROR_BAD_REQUEST, "/etc: not below"},
        {"{\"error\":\"org.varlink.service.PermissionDenied\"}", REACH_ERROR_PERMISSION,
         "the service does not permit this to this user"},
        {"{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":\"goal\"}}",
         REACH_ERROR_INVALID_PARAMETER, "the service does not allow a parameter: goal"},
        {"{\"error\":\"org.varlink.service.MethodNotFound\",\"parameters\":{\"method\":\"Later\"}}",
         REACH_ERROR_NO_SUCH_METHOD, "the service is older than the method: Later"},
        {"{\"error\":\"io.reach.Reachability.Later\",\"parameters\":{\"status\":\"wired\"}}",
         REACH_ERROR_OTHER, "another error of the service: io.reach.Reachability.Later"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        reach_reply *reply = read_reply(known[i].message, 0);
        EXPECT_INT(reach_reply_error(reply), known[i].error);
        EXPECT_TEXT(reach_reply_message(reply), known[i].sentence);
        EXPECT(reach_reply_error_name(reply) != NULL);
        EXPECT(reach_reply_report(reply) == NULL);
        reach_reply_unref(reply);
    }
}

static void refusals_of_the_kernel_are_told_apart(void)
{
    static const struct {
        int number, error;
        const char *advice;
    } known[] = {
        {ENOENT, REACH_ERROR_NO_SERVICE, "systemctl start reach.socket"},
        {ENOTDIR, REACH_ERROR_NO_SERVICE, "REACH_SOCKET"},
        {ECONNREFUSED, REACH_ERROR_NOT_RUNNING, "systemctl start reach.service"},
        {EACCES, REACH_ERROR_ACCESS, "mode 0666"},
        {EAGAIN, REACH_ERROR_BUSY, "ss -xp"},
        {EPROTOTYPE, REACH_ERROR_PROTOCOL, "another program listens"},
        {EMFILE, REACH_ERROR_SYSTEM, "errno 24"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[512];
        EXPECT_INT(error_of_connect(known[i].number), known[i].error);
        error_message(text, sizeof text, known[i].error, known[i].number, "/run/x");
        EXPECT_HAS(text, "/run/x: ");
        EXPECT_HAS(text, known[i].advice);
    }
    for (int error = 0; error > -110; error--) EXPECT(*reach_error_text(error));
}

static void replies_about_the_outbox_are_read(void)
{
    reach_reply *reply = read_reply(
        "{\"parameters\":{\"entries\":[{\"id\":\"3\",\"lane\":\"a\",\"method\":\"POST\",\"url\":\"http://x/"
        "\",\"state\":\"dead\","
        "\"created\":\"2026-11-26T12:34:56Z\",\"expires\":null,\"idempotencyKey\":\"k\",\"attempts\":2,"
        "\"nextAttempt\":null,"
        "\"bytes\":12,\"lastError\":\"e\",\"hold\":null},{\"state\":\"waiting\"},null],\"total\":9}}",
        0);
    const reach_entry *entry = reach_reply_entry(reply, 0);
    int64_t created = 0;
    EXPECT_INT(reach_reply_entry_count(reply), 3);
    EXPECT_INT(reach_reply_entry_total(reply), 9);
    EXPECT_TEXT(reach_entry_id(entry), "3");
    EXPECT_TEXT(reach_entry_url(entry), "http://x/");
    EXPECT_TEXT(reach_entry_idempotency_key(entry), "k");
    EXPECT_TEXT(reach_entry_last_error(entry), "e");
    EXPECT_TEXT(reach_entry_hold(entry), NULL);
    EXPECT(reach_entry_created(entry, &created) && created == 1795696496000);
    EXPECT(!reach_entry_expires(entry, NULL) && reach_entry_is_dead(entry));
    EXPECT_INT(reach_entry_attempts(entry), 2);
    EXPECT_INT(reach_entry_bytes(entry), 12);
    EXPECT(!reach_entry_is_dead(reach_reply_entry(reply, 1)));
    EXPECT(reach_reply_entry(reply, 2) == NULL);
    reach_reply_unref(reply);
    reply = read_reply(
        "{\"parameters\":{\"outcome\":\"dead\",\"statusCode\":404,\"failure\":\"refused\",\"lastError\":null}"
        "}",
        0);
    EXPECT_INT(reach_reply_outcome(reply), REACH_OUTCOME_DEAD);
    EXPECT_INT(reach_reply_failure(reply), REACH_FAILURE_REFUSED);
    EXPECT_INT(reach_reply_status_code(reply), 404);
    EXPECT_TEXT(reach_reply_entry_id(reply), NULL);
    reach_reply_unref(reply);
}

static void what_became_of_a_fetched_file_is_read(void)
{
    reach_reply *reply = read_reply(
        "{\"parameters\":{\"event\":\"present\",\"entry\":{\"id\":\"3\",\"file\":\"/data/a\"}}}", 0);
    EXPECT_TEXT(reach_entry_file(reach_reply_changed_entry(reply)), "/data/a");
    EXPECT_TEXT(reach_reply_file(reply), NULL);
    EXPECT_INT(reach_reply_file_bytes(reply), 0);
    reach_reply_unref(reply);
    reply = read_reply(
        "{\"parameters\":{\"outcome\":\"delivered\",\"file\":\"/data/a\",\"bytes\":5000000000}}", 0);
    EXPECT_INT(reach_reply_outcome(reply), REACH_OUTCOME_DELIVERED);
    EXPECT_TEXT(reach_reply_file(reply), "/data/a");
    EXPECT(reach_reply_file_bytes(reply) == 5000000000);
    reach_reply_unref(reply);
    reply = read_reply("{\"parameters\":{\"outcome\":\"delivered\",\"file\":null,\"bytes\":null}}", 0);
    EXPECT_TEXT(reach_reply_file(reply), NULL);
    EXPECT_INT(reach_reply_file_bytes(reply), 0);
    EXPECT_TEXT(reach_entry_file(reach_reply_changed_entry(reply)), NULL);
    reach_reply_unref(reply);
}

const struct test tests[] = {
    {"C-020 messages come in pieces of any length", frames_come_in_any_pieces},
    {"C-021 an idle connection holds no memory", an_idle_frame_holds_no_memory},
    {"C-022 a message without an end is refused at 16 MiB", endless_messages_are_refused},
    {"C-023 times are read, and what is none leaves the value alone", times_are_read},
    {"C-024 words become values, and unknown ones OTHER", words_become_values},
    {"C-025 a report is read, with members of a later service", a_report_is_read},
    {"C-026 the JSON of a reply stays as it came", the_json_of_a_reply_stays_as_it_came},
    {"C-027 what is no reply is refused", what_is_no_reply_is_refused},
    {"C-028 errors of the service are told apart, each with a sentence",
     errors_of_the_service_are_told_apart},
    {"C-029 refusals of the kernel are told apart, each with what to do",
     refusals_of_the_kernel_are_told_apart},
    {"C-030 replies about the outbox are read", replies_about_the_outbox_are_read},
    {"C-031 what became of a fetched file is read", what_became_of_a_fetched_file_is_read},
    {NULL, NULL},
};
