/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON (RFC 8259): a text becomes a flat array of values, each before its children, so that a document is
 * freed at once and a value needs no pointer to it.
 */
#ifndef REACH_JSON_H
#define REACH_JSON_H

#include "reach-client.h"

/* The deepest nesting that is read. */
#define JSON_DEPTH 64
/* The most values of a document; bounds the memory of one that consists of nothing else. */
#define JSON_VALUES (1u << 20)

struct reach_value {
    unsigned char type;
    bool flag;
    /*
     * The distance to the next child of the same parent; 0 for the last. The first child follows its parent.
     */
    uint32_t next;
    /* The children of an array or an object. */
    uint32_t count;
    /* Where the value stands in the text. */
    uint32_t start, end;
    /* The name of a member; NULL for others. */
    const char *key;
    union {
        int64_t integer;
        double number;
        struct {
            const char *text;
            size_t length;
        } string;
    } of;
};

struct json {
    /* The root, and what is below it. */
    struct reach_value *values;
    /* The decoded strings and keys. */
    char *text;
};

enum json_result { JSON_OK, JSON_INVALID, JSON_TOO_BIG, JSON_NO_MEMORY };

/*
 * Reads a document. On failure there is nothing to free. Strict: no byte beyond the document, no bad UTF-8;
 * half of a surrogate pair becomes U+FFFD.
 */
enum json_result json_read(struct json *json, const char *text, size_t length);
void json_free(struct json *json);

/* The member's text, or NULL if there is none or it is no string. */
const char *json_text(const reach_value *object, const char *name);
bool json_flag(const reach_value *object, const char *name);
int64_t json_integer(const reach_value *object, const char *name);

#endif
