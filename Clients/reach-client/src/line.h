/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a connection is made, made again, and given up: decisions alone, without a socket or a clock. Times
 * are milliseconds of one monotonic clock; each event returns what to do.
 */
#ifndef REACH_LINE_H
#define REACH_LINE_H

#include <stdbool.h>
#include <stdint.h>

#define LINE_NEVER INT64_MAX
/* The first pause before another try, and the longest. */
#define LINE_FIRST_PAUSE 100
#define LINE_LONGEST_PAUSE 30000
/* After so many tries an absent service is not tried by time, where its socket's folder is watched. */
#define LINE_TIMED_TRIES 5
/* How long a monitor's service may take for its first answer, and how long a full queue is no failure. */
#define LINE_PATIENCE 10000
/* How long a restart may take for a call without a time limit. */
#define LINE_RESTART_TIME 30000
/* A connection that lived so long was a good one: the pauses begin anew. */
#define LINE_GOOD_TIME 1000

enum line_kind {
    /* A call that must not be carried out twice. */
    LINE_ONCE,
    /* A call that is made again if its connection is lost. */
    LINE_REPEATED,
    /* The same, and it also waits for a service that is not there at first. */
    LINE_PATIENT,
    /* A subscription: never given up. */
    LINE_MONITOR
};

enum line_state { LINE_PAUSED, LINE_OPEN, LINE_ENDED };

struct line {
    enum line_kind kind;
    enum line_state state;
    /* The end of the time limit. */
    int64_t limit;
    int64_t retry_at;
    int64_t opened_at;
    /* When the first try failed that no good connection has followed; LINE_NEVER if none has failed. */
    int64_t failing_since;
    /* The first answer of a monitor is due then. */
    int64_t answer_by;
    unsigned tries;
    /* A connection was made once. */
    bool was_open;
    bool answered;
    /* The folder of the socket is watched. */
    bool watched;
    /* Why it is paused; what the user of a monitor was told last. 0: nothing. */
    int failure, reported;
};

enum line_action {
    LINE_NOTHING,
    /* Connect now: line_opened() or line_refused() has to follow. */
    LINE_CONNECT,
    /* Close the connection, if there is one, and tell the user of the monitor that the service is away. */
    LINE_AWAY,
    /* Close the connection, if there is one; another try follows. */
    LINE_RETRY,
    /* Close the connection, if there is one: the call has failed. */
    LINE_FAIL
};

struct line_step {
    enum line_action action;
    /* For LINE_AWAY and LINE_FAIL: a reach_error. */
    int error;
};

/* limit: when the call has to end; LINE_NEVER without one. The first try is due at once. */
void line_begin(struct line *line, enum line_kind kind, int64_t limit, int64_t now);
/* Time has passed. */
struct line_step line_tick(struct line *line, int64_t now);
/* The connection was made. */
void line_opened(struct line *line, int64_t now);
/* It was not made; error is the reach_error of the refusal. */
struct line_step line_refused(struct line *line, int error, int64_t now);
/*
 * The connection broke, or what came is no use: REACH_ERROR_DISCONNECTED, PROTOCOL, NO_MEMORY, or for a
 * monitor an error that the service answered with.
 */
struct line_step line_lost(struct line *line, int error, int64_t now);
/* An answer has come. Ends a call; a monitor goes on. */
void line_answered(struct line *line);
/*
 * The service answers that a call cannot be served at this time: whether the call is to be lost and made
 * again. A service that has just started may not be ready, and one that ends answers so what it has kept for
 * a while.
 */
bool line_is_too_early(const struct line *line, int64_t now);
/* The socket's folder has changed, or a user asks for it: a pause ends, and pauses begin anew. */
void line_hurry(struct line *line, int64_t now);
/* Whether a folder is watched for the socket, instead of trying by time. */
bool line_wants_watch(const struct line *line);
/* When line_tick() is due; LINE_NEVER if it is not. */
int64_t line_deadline(const struct line *line);

#endif
