/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON. The numbers and strings in it: json-scalars.c. */
#include "json.h"

#include <stdlib.h>
#include <string.h>

#include "json-scalars.h"

struct reader {
    const char *text;
    size_t length, position;
    struct reach_value *values;
    uint32_t count, room;
    /* Where the next decoded string goes. */
    char *decoded;
};

static enum json_result read_value(struct reader *reader, unsigned depth, uint32_t *index);

static void skip_space(struct reader *reader)
{
    while (reader->position < reader->length) {
        char c = reader->text[reader->position];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return;
        reader->position++;
    }
}

/* The next character that is no space; -1 at the end. */
static int next_character(struct reader *reader)
{
    skip_space(reader);
    return reader->position < reader->length ? (unsigned char)reader->text[reader->position] : -1;
}

static enum json_result new_value(struct reader *reader, uint32_t *index)
{
    if (reader->count == reader->room) {
        if (reader->room >= JSON_VALUES) return JSON_TOO_BIG;
        uint32_t room = reader->room < 32 ? 32 : reader->room * 2;
        struct reach_value *values = realloc(reader->values, room * sizeof *values);
        if (!values) return JSON_NO_MEMORY;
        reader->values = values;
        reader->room = room;
    }
    *index = reader->count++;
    memset(&reader->values[*index], 0, sizeof *reader->values);
    return JSON_OK;
}

static enum json_result read_string(struct reader *reader, const char **text, size_t *length)
{
    size_t used = json_decode_string(
        reader->text + reader->position, reader->length - reader->position, reader->decoded, length);
    if (used == 0) return JSON_INVALID;
    *text = reader->decoded;
    reader->decoded += *length + 1;
    reader->position += used;
    return JSON_OK;
}

static enum json_result read_word(struct reader *reader, const char *word, struct reach_value *value)
{
    size_t length = strlen(word);
    if (reader->length - reader->position < length) return JSON_INVALID;
    if (memcmp(reader->text + reader->position, word, length) != 0) return JSON_INVALID;
    reader->position += length;
    value->type = word[0] == 'n' ? REACH_TYPE_NULL : REACH_TYPE_BOOL;
    value->flag = word[0] == 't';
    return JSON_OK;
}

/* Reads the name of a member and its colon. */
static enum json_result read_key(struct reader *reader, const char **key)
{
    size_t length;
    if (next_character(reader) != '"') return JSON_INVALID;
    enum json_result result = read_string(reader, key, &length);
    if (result != JSON_OK) return result;
    if (next_character(reader) != ':') return JSON_INVALID;
    reader->position++;
    return JSON_OK;
}

/* Reads what is between the brackets, and the closing one. */
static enum json_result read_children(struct reader *reader, unsigned depth, uint32_t parent, bool is_object)
{
    int close = is_object ? '}' : ']';
    uint32_t former = 0, child = 0, count = 0;
    if (depth == JSON_DEPTH) return JSON_TOO_BIG;
    reader->position++;
    if (next_character(reader) != close) {
        for (;;) {
            const char *key = NULL;
            enum json_result result = is_object ? read_key(reader, &key) : JSON_OK;
            if (result == JSON_OK) result = read_value(reader, depth + 1, &child);
            if (result != JSON_OK) return result;
            reader->values[child].key = key;
            if (count > 0) reader->values[former].next = child - former;
            former = child;
            count++;
            int c = next_character(reader);
            if (c == close) break;
            if (c != ',') return JSON_INVALID;
            reader->position++;
        }
    }
    reader->position++;
    reader->values[parent].type = is_object ? REACH_TYPE_OBJECT : REACH_TYPE_ARRAY;
    reader->values[parent].count = count;
    return JSON_OK;
}

static enum json_result read_value(struct reader *reader, unsigned depth, uint32_t *index)
{
    int c = next_character(reader);
    size_t start = reader->position;
    enum json_result result = new_value(reader, index);
    if (result != JSON_OK) return result;
    struct reach_value *value = &reader->values[*index];
    switch (c) {
    case '{':
    case '[': result = read_children(reader, depth, *index, c == '{'); break;
    case '"':
        value->type = REACH_TYPE_STRING;
        result = read_string(reader, &value->of.string.text, &value->of.string.length);
        break;
    case 't': result = read_word(reader, "true", value); break;
    case 'f': result = read_word(reader, "false", value); break;
    case 'n': result = read_word(reader, "null", value); break;
    case -1: result = JSON_INVALID; break;
    default: {
        size_t used = json_decode_number(reader->text + start, reader->length - start, value);
        reader->position += used;
        if (used == 0) result = JSON_INVALID;
    }
    }
    /* The array may have moved. */
    reader->values[*index].start = (uint32_t)start;
    reader->values[*index].end = (uint32_t)reader->position;
    return result;
}

enum json_result json_read(struct json *json, const char *text, size_t length)
{
    *json = (struct json){0};
    if (length > UINT32_MAX / 2) return JSON_TOO_BIG;
    /* A decoded string has at most the bytes between its quotation marks, and a NUL: less than with both. */
    json->text = malloc(length + 1);
    if (!json->text) return JSON_NO_MEMORY;
    struct reader reader = {.text = text, .length = length, .decoded = json->text};
    uint32_t root;
    enum json_result result = read_value(&reader, 0, &root);
    if (result == JSON_OK && next_character(&reader) != -1) result = JSON_INVALID;
    json->values = reader.values;
    if (result != JSON_OK) {
        json_free(json);
        return result;
    }
    /* A reply may be kept for long; a smaller block is not refused, and would be no loss. */
    struct reach_value *fitting = realloc(json->values, reader.count * sizeof *fitting);
    if (fitting) json->values = fitting;
    return JSON_OK;
}

void json_free(struct json *json)
{
    free(json->values);
    free(json->text);
    *json = (struct json){0};
}
