/* SPDX-License-Identifier: Apache-2.0 */
/* What came of a call: the parameters of an answer, or an error with its sentence. Immutable once made. */
#ifndef REACH_REPLY_H
#define REACH_REPLY_H

#include <stdatomic.h>

#include "json.h"

struct reach_report {
    const reach_reply *reply;
};

struct reach_reply {
    atomic_uint references;
    int error, number;
    /* Of an error; "" otherwise. */
    char *message;
    /* The service's name of it, in the values. */
    const char *error_name;
    /* The message as it came, cut off behind its parameters; NULL if none came. */
    char *raw;
    size_t raw_start, raw_length;
    struct json json;
    /* The parameters, in the values; NULL if no answer came. */
    const reach_value *parameters;
    /* More replies to the same call follow. */
    bool continues;
    struct reach_report report;

    /* What a monitor calls its callback for, and the next reply that waits for that. */
    reach_event event;
    reach_reply *next;
};

/* The reply of programs that have no memory; lives for ever. */
reach_reply *reply_without_memory(void);

/*
 * Reads a message of the service. NULL if it is none, with *error: PROTOCOL or NO_MEMORY. The first reference
 * is the caller's.
 */
reach_reply *reply_read(const char *message, size_t length, int *error);
/* A reply for an error that is not the service's; never NULL. */
reach_reply *reply_failed(int error, int number, const char *socket);
/* The same with another sentence. */
reach_reply *reply_failed_because(int error, const char *sentence);
/* What a monitor's reply is about, by its member "event". */
reach_event reply_event(const reach_reply *reply);

#endif
