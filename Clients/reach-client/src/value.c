/* SPDX-License-Identifier: Apache-2.0 */
/* What programs read of JSON values. */
#include <string.h>

#include "json.h"

reach_type reach_value_type(const reach_value *value)
{
    return value ? (reach_type)value->type : REACH_TYPE_NONE;
}

bool reach_value_bool(const reach_value *value)
{
    return value && value->type == REACH_TYPE_BOOL && value->flag;
}

int64_t reach_value_integer(const reach_value *value)
{
    if (!value) return 0;
    if (value->type == REACH_TYPE_INTEGER) return value->of.integer;
    if (value->type != REACH_TYPE_NUMBER) return 0;
    /* 2^63 is the first double beyond the greatest integer. */
    if (value->of.number >= 9223372036854775808.0) return INT64_MAX;
    if (value->of.number < -9223372036854775808.0) return INT64_MIN;
    return (int64_t)value->of.number;
}

double reach_value_number(const reach_value *value)
{
    if (!value) return 0;
    if (value->type == REACH_TYPE_INTEGER) return (double)value->of.integer;
    return value->type == REACH_TYPE_NUMBER ? value->of.number : 0;
}

const char *reach_value_string(const reach_value *value, size_t *length)
{
    bool is_string = value && value->type == REACH_TYPE_STRING;
    if (length) *length = is_string ? value->of.string.length : 0;
    return is_string ? value->of.string.text : NULL;
}

size_t reach_value_count(const reach_value *value) { return value ? value->count : 0; }

const reach_value *reach_value_at(const reach_value *value, size_t index)
{
    if (!value || index >= value->count) return NULL;
    const reach_value *child = value + 1;
    for (; index > 0; index--) child += child->next;
    return child;
}

const char *reach_value_key(const reach_value *value, size_t index)
{
    const reach_value *child = reach_value_at(value, index);
    return child ? child->key : NULL;
}

const reach_value *reach_value_member(const reach_value *value, const char *name)
{
    const reach_value *found = NULL;
    if (!value || !name || value->type != REACH_TYPE_OBJECT || value->count == 0) return NULL;
    for (const reach_value *child = value + 1;; child += child->next) {
        if (strcmp(child->key, name) == 0) found = child;
        if (child->next == 0) return found;
    }
}

const char *json_text(const reach_value *object, const char *name)
{
    return reach_value_string(reach_value_member(object, name), NULL);
}

bool json_flag(const reach_value *object, const char *name)
{
    return reach_value_bool(reach_value_member(object, name));
}

int64_t json_integer(const reach_value *object, const char *name)
{
    return reach_value_integer(reach_value_member(object, name));
}
