/* SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

#include "reach-client.h"

static const struct line_step nothing = {LINE_NOTHING, 0};

void line_begin(struct line *line, enum line_kind kind, int64_t limit, int64_t now)
{
    *line = (struct line){
        .kind = kind,
        .state = LINE_PAUSED,
        .limit = limit,
        .retry_at = now,
        .failing_since = LINE_NEVER,
        .answer_by = LINE_NEVER,
    };
}

/* Whether the service is away, and its socket will change when it comes. */
static bool is_absent(int error)
{
    return error == REACH_ERROR_NO_SERVICE || error == REACH_ERROR_NOT_RUNNING;
}

static struct line_step fail(struct line *line, int error)
{
    line->state = LINE_ENDED;
    return (struct line_step){LINE_FAIL, error};
}

/* Pauses before the next try. */
static void pause_after(struct line *line, int error, int64_t now)
{
    int64_t pause = line->tries < 10 ? (int64_t)LINE_FIRST_PAUSE << line->tries : LINE_LONGEST_PAUSE;
    if (pause > LINE_LONGEST_PAUSE) pause = LINE_LONGEST_PAUSE;
    if (line->tries < 1000) line->tries++;
    line->state = LINE_PAUSED;
    line->retry_at = now + pause;
    line->answer_by = LINE_NEVER;
    line->failure = error;
    if (line->failing_since == LINE_NEVER) line->failing_since = now;
}

/* A try has failed: what its user gets to know. */
static struct line_step failed(struct line *line, int error, int64_t now)
{
    pause_after(line, error, now);
    if (line->kind == LINE_MONITOR) {
        /* A full queue is a service that is busy for a moment. */
        bool is_busy = error == REACH_ERROR_BUSY && now - line->failing_since < LINE_PATIENCE;
        if (is_busy || error == line->reported) return (struct line_step){LINE_RETRY, 0};
        line->reported = error;
        return (struct line_step){LINE_AWAY, error};
    }
    int64_t patience = error == REACH_ERROR_BUSY ? LINE_PATIENCE : LINE_RESTART_TIME;
    if (line->kind != LINE_PATIENT && line->limit == LINE_NEVER && now - line->failing_since >= patience) {
        return fail(line, error);
    }
    return (struct line_step){LINE_RETRY, 0};
}

struct line_step line_tick(struct line *line, int64_t now)
{
    if (line->state == LINE_ENDED) return nothing;
    if (now >= line->limit) {
        /* What the service itself has said, or its full queue, is the better reason. */
        bool is_known = line->failure == REACH_ERROR_BUSY || line->failure == REACH_ERROR_UNAVAILABLE;
        return fail(line, line->state == LINE_PAUSED && is_known ? line->failure : REACH_ERROR_TIMED_OUT);
    }
    if (line->state == LINE_PAUSED) {
        return now >= line_deadline(line) ? (struct line_step){LINE_CONNECT, 0} : nothing;
    }
    if (now >= line->answer_by) return failed(line, REACH_ERROR_TIMED_OUT, now);
    return nothing;
}

void line_opened(struct line *line, int64_t now)
{
    if (line->state != LINE_PAUSED) return;
    line->state = LINE_OPEN;
    line->opened_at = now;
    line->was_open = true;
    line->answered = false;
    line->answer_by = line->kind == LINE_MONITOR ? now + LINE_PATIENCE : LINE_NEVER;
}

struct line_step line_refused(struct line *line, int error, int64_t now)
{
    if (line->state != LINE_PAUSED) return nothing;
    bool may_pass = error == REACH_ERROR_BUSY || line->kind == LINE_PATIENT || line->kind == LINE_MONITOR;
    /* Lack of descriptors or memory: its time may come for a monitor alone. */
    if (!is_absent(error) && error != REACH_ERROR_BUSY && line->kind == LINE_PATIENT) may_pass = false;
    /* A call whose connection was lost waits for the end of a restart. */
    if (is_absent(error) && line->was_open && line->kind == LINE_REPEATED) may_pass = true;
    return may_pass ? failed(line, error, now) : fail(line, error);
}

struct line_step line_lost(struct line *line, int error, int64_t now)
{
    if (line->state != LINE_OPEN) return nothing;
    if (now - line->opened_at >= LINE_GOOD_TIME && (line->answered || line->kind != LINE_MONITOR)) {
        line->tries = 0;
        line->failing_since = LINE_NEVER;
    }
    bool is_passing = error == REACH_ERROR_DISCONNECTED || error == REACH_ERROR_UNAVAILABLE;
    if (line->kind == LINE_ONCE || (line->kind != LINE_MONITOR && !is_passing)) return fail(line, error);
    return failed(line, error, now);
}

void line_answered(struct line *line)
{
    if (line->state != LINE_OPEN) return;
    line->answered = true;
    line->answer_by = LINE_NEVER;
    line->reported = line->failure = 0;
    if (line->kind != LINE_MONITOR) line->state = LINE_ENDED;
}

bool line_is_too_early(const struct line *line, int64_t now)
{
    if (line->state != LINE_OPEN || line->kind == LINE_ONCE || line->kind == LINE_MONITOR) return false;
    bool was_kept = now - line->opened_at >= LINE_GOOD_TIME;
    bool may_start = line->kind == LINE_PATIENT || line->failing_since != LINE_NEVER;
    return was_kept || (may_start && line->tries <= LINE_TIMED_TRIES);
}

void line_hurry(struct line *line, int64_t now)
{
    if (line->state != LINE_PAUSED) return;
    line->tries = 0;
    line->retry_at = now;
}

bool line_wants_watch(const struct line *line)
{
    return line->state == LINE_PAUSED && is_absent(line->failure);
}

int64_t line_deadline(const struct line *line)
{
    if (line->state == LINE_ENDED) return LINE_NEVER;
    int64_t next = line->state == LINE_OPEN ? line->answer_by : line->retry_at;
    bool only_watched = line_wants_watch(line) && line->watched && line->tries > LINE_TIMED_TRIES;
    /* A call without a time limit is given up by time. */
    if (only_watched && line->kind == LINE_REPEATED && line->limit == LINE_NEVER) only_watched = false;
    if (only_watched) next = LINE_NEVER;
    return next < line->limit ? next : line->limit;
}
