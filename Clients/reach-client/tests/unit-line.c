/* SPDX-License-Identifier: Apache-2.0 */
/* When a connection is made, made again, and given up. */
#include "line.h"
#include "reach-client.h"
#include "test.h"

static void expect_step(struct line_step step, enum line_action action, int error)
{
    EXPECT_INT(step.action, action);
    EXPECT_INT(step.error, error);
}

/* Lets a line come to its next try, and returns when that is. */
static int64_t next_try(struct line *line)
{
    int64_t now = line_deadline(line);
    expect_step(line_tick(line, now - 1), LINE_NOTHING, 0);
    expect_step(line_tick(line, now), LINE_CONNECT, 0);
    return now;
}

static void pauses_double(void)
{
    struct line line;
    int64_t now = 1000, pause = LINE_FIRST_PAUSE;
    line_begin(&line, LINE_MONITOR, LINE_NEVER, now);
    EXPECT_INT(next_try(&line), 1000);
    expect_step(line_refused(&line, REACH_ERROR_ACCESS, now), LINE_AWAY, REACH_ERROR_ACCESS);
    for (int i = 0; i < 5000; i++) {
        EXPECT_INT(next_try(&line) - now, pause);
        now += pause;
        expect_step(line_refused(&line, REACH_ERROR_ACCESS, now), LINE_RETRY, 0);
        pause = pause * 2 > LINE_LONGEST_PAUSE ? LINE_LONGEST_PAUSE : pause * 2;
    }
}

static void a_watched_socket_is_not_tried_by_time(void)
{
    struct line line;
    int64_t now = 0;
    line_begin(&line, LINE_MONITOR, LINE_NEVER, now);
    line.watched = true;
    for (int tries = 0; tries <= LINE_TIMED_TRIES; tries++) {
        now = next_try(&line);
        line_refused(&line, REACH_ERROR_NO_SERVICE, now);
        EXPECT(line_wants_watch(&line));
    }
    EXPECT_INT(line_deadline(&line), LINE_NEVER);
    expect_step(line_tick(&line, now + 10000000), LINE_NOTHING, 0);
    /* The socket appears, before its service listens. */
    line_hurry(&line, now + 10000000);
    EXPECT_INT(next_try(&line), now + 10000000);
    line_refused(&line, REACH_ERROR_NOT_RUNNING, now + 10000000);
    EXPECT_INT(line_deadline(&line), now + 10000000 + LINE_FIRST_PAUSE);
    /* Without a watch it is tried by time. */
    line.tries = 20;
    line.watched = false;
    EXPECT(line_deadline(&line) != LINE_NEVER);
}

static void an_absent_service_fails_a_call_at_once(void)
{
    static const int errors[] = {
        REACH_ERROR_NO_SERVICE, REACH_ERROR_NOT_RUNNING, REACH_ERROR_ACCESS, REACH_ERROR_SYSTEM,
        REACH_ERROR_PROTOCOL};
    static const enum line_kind kinds[] = {LINE_ONCE, LINE_REPEATED};
    struct line line;
    for (int i = 0; i < 10; i++) {
        line_begin(&line, kinds[i % 2], 5000, 0);
        next_try(&line);
        expect_step(line_refused(&line, errors[i / 2], 0), LINE_FAIL, errors[i / 2]);
        EXPECT_INT(line_deadline(&line), LINE_NEVER);
        expect_step(line_tick(&line, 6000), LINE_NOTHING, 0);
    }
    line_begin(&line, LINE_PATIENT, 5000, 0);
    next_try(&line);
    expect_step(line_refused(&line, REACH_ERROR_NO_SERVICE, 0), LINE_RETRY, 0);
    /* But not for a socket that it may not use. */
    next_try(&line);
    expect_step(line_refused(&line, REACH_ERROR_ACCESS, 100), LINE_FAIL, REACH_ERROR_ACCESS);
}

static void a_patient_call_waits_until_its_limit(void)
{
    struct line line;
    line_begin(&line, LINE_PATIENT, 500, 0);
    int64_t now = next_try(&line);
    while (now < 500) {
        expect_step(line_refused(&line, REACH_ERROR_NO_SERVICE, now), LINE_RETRY, 0);
        now = line_deadline(&line);
        if (now < 500) next_try(&line);
    }
    EXPECT_INT(now, 500);
    expect_step(line_tick(&line, now), LINE_FAIL, REACH_ERROR_TIMED_OUT);
    line_begin(&line, LINE_PATIENT, LINE_NEVER, 0);
    for (int i = 0; i < 1000; i++) {
        now = next_try(&line);
        expect_step(line_refused(&line, REACH_ERROR_NOT_RUNNING, now), LINE_RETRY, 0);
    }
}

static void a_lost_call_is_made_again(void)
{
    struct line line;
    line_begin(&line, LINE_REPEATED, 60000, 0);
    next_try(&line);
    line_opened(&line, 0);
    expect_step(line_lost(&line, REACH_ERROR_DISCONNECTED, 5000), LINE_RETRY, 0);
    EXPECT_INT(next_try(&line), 5000 + LINE_FIRST_PAUSE);
    /* The service is away for a moment: a call that was under way waits for it. */
    expect_step(line_refused(&line, REACH_ERROR_NO_SERVICE, 5100), LINE_RETRY, 0);
    int64_t now = next_try(&line);
    line_opened(&line, now);
    line_answered(&line);
    EXPECT_INT(line.state, LINE_ENDED);

    line_begin(&line, LINE_ONCE, 60000, 0);
    next_try(&line);
    line_opened(&line, 0);
    expect_step(line_lost(&line, REACH_ERROR_DISCONNECTED, 5), LINE_FAIL, REACH_ERROR_DISCONNECTED);
}

static void a_restart_may_take_half_a_minute(void)
{
    struct line line;
    line_begin(&line, LINE_REPEATED, LINE_NEVER, 0);
    next_try(&line);
    line_opened(&line, 0);
    expect_step(line_lost(&line, REACH_ERROR_DISCONNECTED, 2000), LINE_RETRY, 0);
    line.watched = true;
    struct line_step step = {LINE_RETRY, 0};
    int64_t now = 0;
    while (step.action == LINE_RETRY) {
        now = next_try(&line);
        step = line_refused(&line, REACH_ERROR_NOT_RUNNING, now);
    }
    expect_step(step, LINE_FAIL, REACH_ERROR_NOT_RUNNING);
    EXPECT(now >= 2000 + LINE_RESTART_TIME && now < 2000 + LINE_RESTART_TIME + LINE_LONGEST_PAUSE);
}

static void a_call_has_a_time_limit(void)
{
    struct line line;
    line_begin(&line, LINE_REPEATED, 500, 0);
    next_try(&line);
    line_opened(&line, 10);
    EXPECT_INT(line_deadline(&line), 500);
    expect_step(line_tick(&line, 499), LINE_NOTHING, 0);
    expect_step(line_tick(&line, 500), LINE_FAIL, REACH_ERROR_TIMED_OUT);
    expect_step(line_lost(&line, REACH_ERROR_DISCONNECTED, 501), LINE_NOTHING, 0);
}

static void a_full_queue_is_tried_again(void)
{
    struct line line;
    int64_t now = 0;
    line_begin(&line, LINE_ONCE, 3000, 0);
    while (now < 3000) {
        next_try(&line);
        expect_step(line_refused(&line, REACH_ERROR_BUSY, now), LINE_RETRY, 0);
        now = line_deadline(&line);
    }
    expect_step(line_tick(&line, 3000), LINE_FAIL, REACH_ERROR_BUSY);

    /* A monitor reports it when it lasts. */
    struct line_step step = {LINE_RETRY, 0};
    line_begin(&line, LINE_MONITOR, LINE_NEVER, 0);
    while (step.action == LINE_RETRY) {
        now = next_try(&line);
        step = line_refused(&line, REACH_ERROR_BUSY, now);
    }
    expect_step(step, LINE_AWAY, REACH_ERROR_BUSY);
    EXPECT(now >= LINE_PATIENCE);
}

static void a_mute_service_counts_as_away(void)
{
    struct line line;
    line_begin(&line, LINE_MONITOR, LINE_NEVER, 0);
    next_try(&line);
    line_opened(&line, 0);
    expect_step(line_tick(&line, LINE_PATIENCE - 1), LINE_NOTHING, 0);
    expect_step(line_tick(&line, LINE_PATIENCE), LINE_AWAY, REACH_ERROR_TIMED_OUT);
    int64_t now = next_try(&line);
    line_opened(&line, now);
    line_answered(&line);
    /* Afterwards nothing is due. */
    EXPECT_INT(line_deadline(&line), LINE_NEVER);
    expect_step(line_tick(&line, now + 1000000000), LINE_NOTHING, 0);
}

static void an_absence_is_reported_once(void)
{
    struct line line;
    line_begin(&line, LINE_MONITOR, LINE_NEVER, 0);
    next_try(&line);
    expect_step(line_refused(&line, REACH_ERROR_NO_SERVICE, 0), LINE_AWAY, REACH_ERROR_NO_SERVICE);
    int64_t now = next_try(&line);
    expect_step(line_refused(&line, REACH_ERROR_NO_SERVICE, now), LINE_RETRY, 0);
    now = next_try(&line);
    expect_step(line_refused(&line, REACH_ERROR_ACCESS, now), LINE_AWAY, REACH_ERROR_ACCESS);
    now = next_try(&line);
    line_opened(&line, now);
    line_answered(&line);
    /* And again when it was there. */
    expect_step(line_lost(&line, REACH_ERROR_DISCONNECTED, now + 5000), LINE_AWAY, REACH_ERROR_DISCONNECTED);
    EXPECT_INT(line_deadline(&line), now + 5000 + LINE_FIRST_PAUSE);
    now = next_try(&line);
    line_opened(&line, now);
    line_answered(&line);
    expect_step(line_lost(&line, REACH_ERROR_DISCONNECTED, now + 5000), LINE_AWAY, REACH_ERROR_DISCONNECTED);
}

static void a_service_that_closes_at_once_is_not_tried_in_a_circle(void)
{
    struct line line;
    int64_t now = 0, former = 0;
    line_begin(&line, LINE_MONITOR, LINE_NEVER, 0);
    for (int i = 0; i < 12; i++) {
        former = now;
        now = next_try(&line);
        line_opened(&line, now);
        line_answered(&line);
        expect_step(line_lost(&line, REACH_ERROR_DISCONNECTED, now), LINE_AWAY, REACH_ERROR_DISCONNECTED);
    }
    EXPECT_INT(now - former, LINE_LONGEST_PAUSE);
}

static void a_service_that_is_not_ready_is_asked_again(void)
{
    struct line line;
    line_begin(&line, LINE_REPEATED, 60000, 0);
    next_try(&line);
    line_opened(&line, 0);
    /* A call that is refused at once stays so. */
    EXPECT(!line_is_too_early(&line, 10));
    /* One that was kept for a while is answered by a service that ends. */
    EXPECT(line_is_too_early(&line, LINE_GOOD_TIME));
    expect_step(line_lost(&line, REACH_ERROR_UNAVAILABLE, LINE_GOOD_TIME), LINE_RETRY, 0);
    int tries = 0;
    for (;; tries++) {
        int64_t now = next_try(&line);
        line_opened(&line, now);
        if (!line_is_too_early(&line, now)) break;
        expect_step(line_lost(&line, REACH_ERROR_UNAVAILABLE, now), LINE_RETRY, 0);
        EXPECT(tries < 100);
    }
    EXPECT_INT(tries, LINE_TIMED_TRIES);
    /* At its limit the call fails as the service has said. */
    line_begin(&line, LINE_PATIENT, 150, 0);
    next_try(&line);
    line_opened(&line, 0);
    EXPECT(line_is_too_early(&line, 0));
    line_lost(&line, REACH_ERROR_UNAVAILABLE, 0);
    int64_t now = next_try(&line);
    line_opened(&line, now);
    line_lost(&line, REACH_ERROR_UNAVAILABLE, now);
    expect_step(line_tick(&line, 150), LINE_FAIL, REACH_ERROR_UNAVAILABLE);
    line_begin(&line, LINE_ONCE, 60000, 0);
    next_try(&line);
    line_opened(&line, 0);
    EXPECT(!line_is_too_early(&line, 5000));
}

const struct test tests[] = {
    {"C-040 pauses double up to 30 s", pauses_double},
    {"C-041 a service whose socket is watched for causes no wake-up after a few tries",
     a_watched_socket_is_not_tried_by_time},
    {"C-042 an absent service fails a call at once, unless it waits for it",
     an_absent_service_fails_a_call_at_once},
    {"C-043 a call that waits for the service does so until its limit, or for ever",
     a_patient_call_waits_until_its_limit},
    {"C-044 a call is made again when its connection is lost, unless it must not", a_lost_call_is_made_again},
    {"C-045 a restart may take half a minute for a call without a limit", a_restart_may_take_half_a_minute},
    {"C-046 a call ends at its time limit", a_call_has_a_time_limit},
    {"C-047 a full queue is tried again until the limit; a monitor reports one that lasts",
     a_full_queue_is_tried_again},
    {"C-048 a service that accepts and says nothing counts as away", a_mute_service_counts_as_away},
    {"C-049 an absence is reported once for each reason", an_absence_is_reported_once},
    {"C-050 a service that answers and closes is asked at growing pauses",
     a_service_that_closes_at_once_is_not_tried_in_a_circle},
    {"C-051 a service that is not ready after a restart is asked again, a few times",
     a_service_that_is_not_ready_is_asked_again},
    {NULL, NULL},
};
