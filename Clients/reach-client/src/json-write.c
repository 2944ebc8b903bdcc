/* SPDX-License-Identifier: Apache-2.0 */
#include "json-write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json-scalars.h"

static void put_string(struct bytes *json, const char *text)
{
    bytes_append(json, "\"", 1);
    for (const char *start = text;; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) continue;
        bytes_append(json, start, (size_t)(text - start));
        if (c == 0) break;
        char escape[8];
        if (c == '"' || c == '\\') snprintf(escape, sizeof escape, "\\%c", c);
        else snprintf(escape, sizeof escape, "\\u%04x", c);
        bytes_append_text(json, escape);
        start = text + 1;
    }
    bytes_append(json, "\"", 1);
}

bool json_is_text(const char *text)
{
    /* What can be written can be read: the reader is the judge of UTF-8. */
    struct bytes json = {0};
    size_t length, used = 0;
    put_string(&json, text);
    char *decoded = json.failed ? NULL : malloc(json.count);
    if (decoded) used = json_decode_string(json.data, json.count, decoded, &length);
    free(decoded);
    bytes_free(&json);
    return used != 0;
}

/* The comma between two members, and the name of this one. */
static void put_key(struct bytes *json, const char *key)
{
    char last = json->count > 0 ? json->data[json->count - 1] : 0;
    if (last && last != '{' && last != '[') bytes_append(json, ",", 1);
    if (!key) return;
    put_string(json, key);
    bytes_append(json, ":", 1);
}

void json_open(struct bytes *json, const char *key, char bracket)
{
    put_key(json, key);
    bytes_append(json, &bracket, 1);
}

void json_close(struct bytes *json, char bracket) { bytes_append(json, &bracket, 1); }

void json_put_text(struct bytes *json, const char *key, const char *text)
{
    put_key(json, key);
    if (text) put_string(json, text);
    else bytes_append_text(json, "null");
}

void json_put_integer(struct bytes *json, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    put_key(json, key);
    bytes_append_text(json, text);
}

void json_put_flag(struct bytes *json, const char *key, bool value)
{
    put_key(json, key);
    bytes_append_text(json, value ? "true" : "false");
}

void json_put_seconds(struct bytes *json, const char *key, int64_t milliseconds)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64 ".%03d", milliseconds / 1000, (int)(milliseconds % 1000));
    put_key(json, key);
    bytes_append_text(json, text);
}

void json_put_base64(struct bytes *json, const char *key, const void *data, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *byte = data;
    put_key(json, key);
    bytes_append(json, "\"", 1);
    bytes_reserve(json, length / 3 * 4 + 8);
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        uint32_t bits = (uint32_t)byte[i] << 16;
        if (left > 1) bits |= (uint32_t)byte[i + 1] << 8;
        if (left > 2) bits |= byte[i + 2];
        char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63], '=', '='};
        if (left > 1) four[2] = digits[bits >> 6 & 63];
        if (left > 2) four[3] = digits[bits & 63];
        bytes_append(json, four, 4);
    }
    bytes_append(json, "\"", 1);
}

void json_put_raw(struct bytes *json, const char *key, const char *value, size_t length)
{
    put_key(json, key);
    bytes_append(json, value, length);
}
