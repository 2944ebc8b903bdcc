/* SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include <string.h>

bool frame_add(struct frame *frame, const char *data, size_t count)
{
    if (frame->start > 0) {
        bytes_drop(&frame->bytes, frame->start);
        frame->searched -= frame->start;
        frame->start = 0;
    }
    bytes_append(&frame->bytes, data, count);
    return !frame->bytes.failed;
}

enum frame_result frame_next(struct frame *frame, const char **message, size_t *length)
{
    const char *data = frame->bytes.data;
    size_t count = frame->bytes.count;
    const char *end =
        frame->searched < count ? memchr(data + frame->searched, 0, count - frame->searched) : NULL;
    size_t stop = end ? (size_t)(end - data) : count;
    frame->searched = stop;
    if (stop - frame->start > FRAME_LIMIT) return FRAME_TOO_LONG;
    if (!end) {
        /* An idle connection holds no memory. */
        if (frame->start == count) frame_free(frame);
        return FRAME_INCOMPLETE;
    }
    *message = data + frame->start;
    *length = stop - frame->start;
    frame->searched = frame->start = stop + 1;
    return FRAME_MESSAGE;
}

void frame_free(struct frame *frame)
{
    bytes_free(&frame->bytes);
    frame->start = frame->searched = 0;
}
