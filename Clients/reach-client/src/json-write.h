/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON into bytes: a member, or an element, with the comma that it needs. */
#ifndef REACH_JSON_WRITE_H
#define REACH_JSON_WRITE_H

#include <stdint.h>

#include "bytes.h"

/* Whether a text is UTF-8; what is not cannot be sent. */
bool json_is_text(const char *text);

/* Opens an object ('{') or an array ('['); key is NULL in an array and for the root. */
void json_open(struct bytes *json, const char *key, char bracket);
/* Closes it: '}' or ']'. */
void json_close(struct bytes *json, char bracket);
/* A string; null for NULL. */
void json_put_text(struct bytes *json, const char *key, const char *text);
void json_put_integer(struct bytes *json, const char *key, int64_t value);
void json_put_flag(struct bytes *json, const char *key, bool value);
/* Milliseconds as seconds. */
void json_put_seconds(struct bytes *json, const char *key, int64_t milliseconds);
/* Bytes as base64 (RFC 4648 §4). */
void json_put_base64(struct bytes *json, const char *key, const void *data, size_t length);
/* JSON as it is. */
void json_put_raw(struct bytes *json, const char *key, const char *value, size_t length);

#endif
