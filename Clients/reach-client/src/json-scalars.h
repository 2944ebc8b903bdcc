/* SPDX-License-Identifier: Apache-2.0 */
/* Strings and numbers of JSON (RFC 8259 §6, §7). */
#ifndef REACH_JSON_SCALARS_H
#define REACH_JSON_SCALARS_H

#include "json.h"

/*
 * Decodes the string that begins with the quotation mark at text. decoded takes as many bytes as the string
 * has in the text, with its NUL.
 *
 * Returns how many bytes of the text it has, with both quotation marks; 0 if it is invalid.
 */
size_t json_decode_string(const char *text, size_t length, char *decoded, size_t *decoded_length);

/*
 * Decodes a number: an integer where it is written as one and has 64 bits. Independent of the locale, unlike
 * strtod(3); a number with a fraction is off by a few units in the last place at most.
 *
 * Returns how many bytes it has; 0 if it is invalid.
 */
size_t json_decode_number(const char *text, size_t length, struct reach_value *value);

#endif
