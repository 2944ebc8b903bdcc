/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that grow. After a failed allocation the buffer stays as it is and says so by `failed`. */
#ifndef REACH_BYTES_H
#define REACH_BYTES_H

#include <stdbool.h>
#include <stddef.h>

struct bytes {
    char *data;
    size_t count;
    size_t room;
    bool failed;
};

/* Makes room for so many more bytes. */
bool bytes_reserve(struct bytes *bytes, size_t more);
void bytes_append(struct bytes *bytes, const void *data, size_t count);
void bytes_append_text(struct bytes *bytes, const char *text);
/* Removes the first bytes, and the memory of an empty buffer. */
void bytes_drop(struct bytes *bytes, size_t count);
void bytes_free(struct bytes *bytes);

#endif
