/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client and a scripted service in one thread: the test says what the service does next, and the client
 * runs while the service waits for something. Nothing sleeps.
 */
#ifndef REACH_LAB_H
#define REACH_LAB_H

#include <stdarg.h>

#include "reach-client.h"
#include "test.h"

/* What a callback was called with. */
struct seen {
    reach_call call;
    reach_event event;
    int error;
    reach_status status;
    const reach_reply *reply;
};

struct lab {
    reach_client *client;
    char folder[64], socket[128];
    int listener;
    /* Of the monitor, and of calls. */
    struct seen events[64], answers[64];
    int event_count, answer_count;
};

/* A folder, and a client for a socket in it; no service listens. */
void lab_open(struct lab *lab);
/* Frees all; fails where a descriptor is left. */
void lab_close(struct lab *lab);
void lab_listen(struct lab *lab);
/* The service ends: its socket is closed and removed. */
void lab_end_service(struct lab *lab);

/* Runs the client until the service has a connection; non-blocking. */
int lab_accept(struct lab *lab);
/* Runs the client until a whole call has come; the text is valid until the next. */
const char *lab_call(struct lab *lab, int connection);
/* Accepts a connection and reads its call, which has to contain this. */
int lab_serve(struct lab *lab, const char *part);
/* Sends a message with its NUL. */
void lab_send(int connection, const char *message);
/* Runs the client until the connection has been closed by it. */
void lab_expect_closed(struct lab *lab, int connection);

/* Runs the client until so many events, or answers, have come. */
void lab_await_events(struct lab *lab, int count);
void lab_await_answers(struct lab *lab, int count);
/* Runs the client for so long: nothing may come meanwhile. */
void lab_idle(struct lab *lab, int milliseconds);

/* Callbacks that record; data is the lab. */
void lab_changed(reach_client *client, reach_event event, const reach_reply *reply, void *data);
void lab_answered(reach_client *client, reach_call call, const reach_reply *reply, void *data);

/* How many descriptors this process has open. */
int lab_descriptors(void);

/* Messages of the service. */
#define REPORT(status, event)                                                                                \
    "{\"parameters\":{\"schema\":1,\"status\":\"" status                                                     \
    "\",\"online\":true,\"interface\":\"eth0\",\"reason\":\"r\","                                            \
    "\"links\":[],\"event\":\"" event "\",\"previous\":null},\"continues\":true}"
#define ANSWER "{\"parameters\":{\"schema\":1,\"status\":\"wired\",\"online\":true,\"reason\":\"r\"}}"

#endif
