/* SPDX-License-Identifier: Apache-2.0 */
#include "bytes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool bytes_reserve(struct bytes *bytes, size_t more)
{
    if (bytes->failed || more > SIZE_MAX / 4 || bytes->count > SIZE_MAX / 4) {
        bytes->failed = true;
        return false;
    }
    size_t needed = bytes->count + more;
    if (needed <= bytes->room) return true;
    size_t room = bytes->room < 256 ? 256 : bytes->room * 2;
    if (room < needed) room = needed;
    char *data = realloc(bytes->data, room);
    if (!data) {
        bytes->failed = true;
        return false;
    }
    bytes->data = data;
    bytes->room = room;
    return true;
}

void bytes_append(struct bytes *bytes, const void *data, size_t count)
{
    if (count == 0 || !bytes_reserve(bytes, count)) return;
    memcpy(bytes->data + bytes->count, data, count);
    bytes->count += count;
}

void bytes_append_text(struct bytes *bytes, const char *text) { bytes_append(bytes, text, strlen(text)); }

void bytes_drop(struct bytes *bytes, size_t count)
{
    if (count >= bytes->count) {
        bytes_free(bytes);
        return;
    }
    memmove(bytes->data, bytes->data + count, bytes->count - count);
    bytes->count -= count;
}

void bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}
