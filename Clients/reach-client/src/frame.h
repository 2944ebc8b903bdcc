/* SPDX-License-Identifier: Apache-2.0 */
/* Splits the bytes of a connection into messages, each of which ends with a NUL (varlink.org/Wire-Format). */
#ifndef REACH_FRAME_H
#define REACH_FRAME_H

#include "bytes.h"

/* The longest message that is accepted, without its NUL. */
#define FRAME_LIMIT ((size_t)16 << 20)

struct frame {
    struct bytes bytes;
    /* The message that was returned last is before it. */
    size_t start;
    /* The bytes before it have no NUL, so a long message is searched once. */
    size_t searched;
};

enum frame_result { FRAME_INCOMPLETE, FRAME_MESSAGE, FRAME_TOO_LONG };

/* Adds received bytes; false without memory. */
bool frame_add(struct frame *frame, const char *data, size_t count);
/* The next message; it is valid until bytes are added. A NUL follows it. */
enum frame_result frame_next(struct frame *frame, const char **message, size_t *length);
void frame_free(struct frame *frame);

#endif
