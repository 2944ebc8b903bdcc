/* SPDX-License-Identifier: Apache-2.0 */
#include "json-scalars.h"

#include <string.h>

static const uint32_t replacement = 0xFFFD;

/*
 * The length of the UTF-8 sequence at text; 0 if it is none: overlong forms, surrogates and what is beyond
 * U+10FFFF are none (RFC 3629 §4).
 */
static size_t sequence_length(const unsigned char *text, size_t length)
{
    unsigned char first = text[0], low = 0x80, high = 0xBF;
    size_t count;
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) count = 2;
    else if (first >= 0xE0 && first <= 0xEF) count = 3;
    else if (first >= 0xF0 && first <= 0xF4) count = 4;
    else return 0;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
    if (length < count || text[1] < low || text[1] > high) return 0;
    for (size_t i = 2; i < count; i++) {
        if (text[i] < 0x80 || text[i] > 0xBF) return 0;
    }
    return count;
}

static size_t put_scalar(char *to, uint32_t scalar)
{
    if (scalar < 0x80) {
        to[0] = (char)scalar;
        return 1;
    }
    if (scalar < 0x800) {
        to[0] = (char)(0xC0 | scalar >> 6);
        to[1] = (char)(0x80 | (scalar & 0x3F));
        return 2;
    }
    if (scalar < 0x10000) {
        to[0] = (char)(0xE0 | scalar >> 12);
        to[1] = (char)(0x80 | (scalar >> 6 & 0x3F));
        to[2] = (char)(0x80 | (scalar & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | scalar >> 18);
    to[1] = (char)(0x80 | (scalar >> 12 & 0x3F));
    to[2] = (char)(0x80 | (scalar >> 6 & 0x3F));
    to[3] = (char)(0x80 | (scalar & 0x3F));
    return 4;
}

/* Four hexadecimal digits; -1 if they are none. */
static int32_t hexadecimal(const char *text, size_t length)
{
    int32_t value = 0;
    if (length < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = text[i];
        int digit;
        if (c >= '0' && c <= '9') digit = c - '0';
        else if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
        else if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
        else return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* Decodes what follows a backslash; returns how many bytes that has, or 0. */
static size_t decode_escape(const char *text, size_t length, uint32_t *scalar)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (length == 0) return 0;
    if (text[0] != 'u') {
        const char *found = text[0] ? strchr(names, text[0]) : NULL;
        if (!found) return 0;
        *scalar = (unsigned char)values[found - names];
        return 1;
    }
    int32_t unit = hexadecimal(text + 1, length - 1);
    if (unit < 0) return 0;
    *scalar = (uint32_t)unit;
    /* A C string ends with a NUL: one inside would cut the text short. */
    if (unit == 0 || (unit >= 0xD800 && unit <= 0xDFFF)) *scalar = replacement;
    if (unit < 0xD800 || unit > 0xDBFF) return 5;
    if (length < 11 || text[5] != '\\' || text[6] != 'u') return 5;
    int32_t low = hexadecimal(text + 7, length - 7);
    if (low < 0xDC00 || low > 0xDFFF) return 5;
    *scalar = 0x10000 + ((uint32_t)(unit - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
    return 11;
}

size_t json_decode_string(const char *text, size_t length, char *decoded, size_t *decoded_length)
{
    size_t position = 1, count = 0;
    while (position < length) {
        unsigned char c = (unsigned char)text[position];
        if (c == '"') {
            decoded[count] = 0;
            *decoded_length = count;
            return position + 1;
        }
        if (c < 0x20) return 0;
        if (c == '\\') {
            uint32_t scalar;
            size_t used = decode_escape(text + position + 1, length - position - 1, &scalar);
            if (used == 0) return 0;
            position += 1 + used;
            count += put_scalar(decoded + count, scalar);
            continue;
        }
        size_t used = sequence_length((const unsigned char *)text + position, length - position);
        if (used == 0) return 0;
        memcpy(decoded + count, text + position, used);
        count += used;
        position += used;
    }
    return 0;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static double scaled(uint64_t digits, int64_t exponent)
{
    /* Beyond these every double is zero or infinite, with the 19 digits that are kept. */
    if (digits == 0 || exponent < -400) return 0;
    if (exponent > 400) exponent = 400;
    double value = (double)digits, power = 10;
    bool divides = exponent < 0;
    if (divides) exponent = -exponent;
    /* In two steps, so that 10^-323 is not divided by an infinite power. */
    for (; exponent > 300; exponent--) value = divides ? value / 10 : value * 10;
    double factor = 1;
    for (int64_t rest = exponent; rest > 0; rest >>= 1) {
        if (rest & 1) factor *= power;
        power *= power;
    }
    return divides ? value / factor : value * factor;
}

size_t json_decode_number(const char *text, size_t length, struct reach_value *value)
{
    size_t i = 0;
    bool negative = i < length && text[i] == '-', is_integer = true, fits = true;
    uint64_t digits = 0;
    int64_t exponent = 0;
    if (negative) i++;
    if (i == length || !is_digit(text[i])) return 0;
    size_t first = i;
    for (; i < length && is_digit(text[i]); i++) {
        if (i == first + 1 && text[first] == '0') return 0;
        /* Below 10^18 another digit fits into 64 bits. */
        if (digits < 1000000000000000000u) {
            digits = digits * 10 + (uint64_t)(text[i] - '0');
        } else {
            fits = false;
            exponent++;
        }
    }
    if (i < length && text[i] == '.') {
        is_integer = false;
        i++;
        if (i == length || !is_digit(text[i])) return 0;
        for (; i < length && is_digit(text[i]); i++) {
            if (digits >= 1000000000000000000u) continue;
            digits = digits * 10 + (uint64_t)(text[i] - '0');
            exponent--;
        }
    }
    if (i < length && (text[i] == 'e' || text[i] == 'E')) {
        is_integer = false;
        i++;
        bool below = i < length && text[i] == '-';
        if (i < length && (text[i] == '-' || text[i] == '+')) i++;
        if (i == length || !is_digit(text[i])) return 0;
        int64_t power = 0;
        for (; i < length && is_digit(text[i]); i++) {
            if (power < 100000000) power = power * 10 + (text[i] - '0');
        }
        exponent += below ? -power : power;
    }
    if (is_integer && fits && digits <= INT64_MAX) {
        value->type = REACH_TYPE_INTEGER;
        value->of.integer = negative ? -(int64_t)digits : (int64_t)digits;
    } else {
        value->type = REACH_TYPE_NUMBER;
        double number = scaled(digits, exponent);
        value->of.number = negative ? -number : number;
    }
    return i;
}
