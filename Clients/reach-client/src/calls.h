/* SPDX-License-Identifier: Apache-2.0 */
/* Beginning a call. */
#ifndef REACH_CALLS_H
#define REACH_CALLS_H

#include "client.h"

struct call {
    /* With its interface. */
    const char *method;
    /* A JSON object; freed by call_begin(). */
    struct bytes parameters;
    enum line_kind kind;
    /* The time limit is a parameter. */
    bool sends_timeout;
    /* The callback gets many replies. */
    bool wants_more;
    int64_t timeout_ms;
    reach_call_callback callback;
    void *data;
};

/* Begins a call; returns what the functions of the API return. */
int call_begin(reach_client *client, struct call *call, reach_call *id);
/*
 * Copies a struct of a caller, which may have less or more members than this library knows; false if it is
 * not allowed.
 */
bool call_options(void *to, size_t size, const void *from);
/* Adds a list of texts that ends with a NULL, if there is one; false if one of them is none. */
bool call_put_texts(struct bytes *json, const char *key, const char *const *texts);

#endif
