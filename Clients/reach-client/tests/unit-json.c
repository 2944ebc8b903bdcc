/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: what is read, what is refused, what is written. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json-write.h"
#include "json.h"
#include "test.h"

/* Reads a text from memory without a byte behind it, so that reading too far is found. */
static enum json_result read_exactly(struct json *json, const char *text, size_t length)
{
    char *copy = malloc(length ? length : 1);
    memcpy(copy, text, length);
    enum json_result result = json_read(json, copy, length);
    free(copy);
    return result;
}

static enum json_result read_text(struct json *json, const char *text)
{
    return read_exactly(json, text, strlen(text));
}

static void expect_refused(const char *text)
{
    struct json json;
    if (read_text(&json, text) == JSON_OK) test_fail(__FILE__, __LINE__, "this was read: %s", text);
}

static void values_are_read(void)
{
    struct json json;
    const char *text = " {\"a\" : [1, -2.5 ,true,false,null,\"x\"] , \"b\":{}, \"c\":[ ] }\r\n\t";
    EXPECT_INT(read_text(&json, text), JSON_OK);
    const reach_value *root = json.values, *a = reach_value_member(root, "a");
    EXPECT_INT(reach_value_type(root), REACH_TYPE_OBJECT);
    EXPECT_INT(reach_value_count(root), 3);
    EXPECT_TEXT(reach_value_key(root, 2), "c");
    EXPECT(reach_value_key(root, 3) == NULL);
    EXPECT_INT(reach_value_count(a), 6);
    EXPECT_INT(reach_value_integer(reach_value_at(a, 0)), 1);
    EXPECT(reach_value_number(reach_value_at(a, 1)) == -2.5);
    EXPECT(reach_value_bool(reach_value_at(a, 2)) && !reach_value_bool(reach_value_at(a, 3)));
    EXPECT_INT(reach_value_type(reach_value_at(a, 4)), REACH_TYPE_NULL);
    EXPECT_TEXT(reach_value_string(reach_value_at(a, 5), NULL), "x");
    EXPECT(reach_value_at(a, 6) == NULL);
    EXPECT_INT(reach_value_type(reach_value_member(root, "b")), REACH_TYPE_OBJECT);
    EXPECT_INT(reach_value_count(reach_value_member(root, "c")), 0);
    EXPECT(reach_value_member(root, "d") == NULL && reach_value_member(a, "a") == NULL);
    json_free(&json);
}

static void truncated_texts_are_refused(void)
{
    const char *text =
        "{\"status\":\"wir\\u00e4d\\ud83d\\ude00\",\"n\":[-1.5e+3,true,null,{\"a\":[\"\xc3\xa4\"]}]}";
    struct json json;
    for (size_t length = 0; length < strlen(text); length++) {
        EXPECT_INT(read_exactly(&json, text, length), JSON_INVALID);
    }
    EXPECT_INT(read_text(&json, text), JSON_OK);
    json_free(&json);
}

static void nesting_is_bounded(void)
{
    struct json json;
    char text[200001];
    for (int depth = JSON_DEPTH; depth <= 100000; depth = depth < JSON_DEPTH + 2 ? depth + 1 : depth * 40) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        EXPECT_INT(
            read_exactly(&json, text, (size_t)depth * 2), depth <= JSON_DEPTH ? JSON_OK : JSON_TOO_BIG);
        if (depth <= JSON_DEPTH) json_free(&json);
    }
    /* Without an end. */
    memset(text, '[', sizeof text);
    EXPECT_INT(read_exactly(&json, text, sizeof text), JSON_TOO_BIG);
}

static void expect_integer(const char *text, int64_t due)
{
    struct json json;
    EXPECT_INT(read_text(&json, text), JSON_OK);
    EXPECT_INT(json.values->type, REACH_TYPE_INTEGER);
    EXPECT_INT(reach_value_integer(json.values), due);
    json_free(&json);
}

static void expect_number(const char *text, double due)
{
    struct json json;
    EXPECT_INT(read_text(&json, text), JSON_OK);
    EXPECT_INT(json.values->type, REACH_TYPE_NUMBER);
    double is = reach_value_number(json.values);
    /* The last places may differ. */
    bool is_near = is == due || fabs(is - due) <= fabs(due) * 1e-14;
    if (!is_near) test_fail(__FILE__, __LINE__, "%s is read as %.17g", text, is);
    reach_value_integer(json.values);
    json_free(&json);
}

static void numbers_are_read(void)
{
    expect_integer("0", 0);
    expect_integer("-0", 0);
    expect_integer("9223372036854775807", INT64_MAX);
    expect_integer("-9223372036854775807", -INT64_MAX);
    expect_number("9223372036854775808", 9223372036854775808.0);
    expect_number("18446744073709551616", 18446744073709551616.0);
    expect_number("0.1", 0.1);
    expect_number("123456.789e-3", 123.456789);
    expect_number("1E5", 1e5);
    expect_number("1e308", 1e308);
    expect_number("-1e400", -INFINITY);
    expect_number("1e99999999999999999999", INFINITY);
    expect_number("1e-99999999999999999999", 0);
    expect_number("2.2250738585072014e-308", 2.2250738585072014e-308);
    expect_number("0.00000000000000000000000000000000000001e38", 1);
    char long_number[5000];
    memset(long_number, '9', sizeof long_number - 1);
    long_number[sizeof long_number - 1] = 0;
    expect_number(long_number, INFINITY);
    const char *refused[] = {"01",   "-",   "+1",  ".5",       "1.",  "1e", "1e+",
                             "0x10", "1_0", "NaN", "Infinity", "--1", NULL};
    for (const char **text = refused; *text; text++) expect_refused(*text);
}

static void numbers_beyond_64_bits_are_cut(void)
{
    struct json json;
    EXPECT_INT(
        read_text(&json, "[1e30,-1e30,2.9,-2.9,\"7\",9223372036854775808,-9223372036854775808]"), JSON_OK);
    int64_t due[] = {INT64_MAX, INT64_MIN, 2, -2, 0, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < 7; i++) EXPECT_INT(reach_value_integer(reach_value_at(json.values, i)), due[i]);
    json_free(&json);
}

static void expect_string(const char *text, const char *due)
{
    struct json json;
    size_t length;
    EXPECT_INT(read_text(&json, text), JSON_OK);
    EXPECT_TEXT(reach_value_string(json.values, &length), due);
    EXPECT_INT(length, strlen(due));
    json_free(&json);
}

static void strings_are_decoded(void)
{
    expect_string("\"\"", "");
    expect_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
    expect_string("\"\\u0041\\u00e4\\u20AC\\ud83d\\ude00\"", "A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    expect_string(
        "\"a\\u0000b\"", "a\xef\xbf\xbd"
                         "b");
    /* Halves of pairs. */
    expect_string("\"\\ud83d\"", "\xef\xbf\xbd");
    expect_string("\"\\ude00x\"", "\xef\xbf\xbdx");
    expect_string("\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80");
    expect_string(
        "\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
                              "A");
    const char *refused[] = {"\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\n\"", "\"\x1f\"",
                             "\"",      "\"\\",      "\"\\\"",      NULL};
    for (const char **text = refused; *text; text++) expect_refused(*text);
}

static void bad_utf8_is_refused(void)
{
    const char *refused[] = {
        "\"\x80\"",
        "\"\xc0\x80\"",
        "\"\xc1\xbf\"",
        "\"\xc3\"",
        "\"\xe0\x80\x80\"",
        "\"\xe0\x9f\xbf\"",
        "\"\xed\xa0\x80\"",
        "\"\xe2\x82\"",
        "\"\xf5\x80\x80\x80\"",
        "\"\xf4\x90\x80\x80\"",
        "\"\xf0\x80\x80\x80\"",
        "\"\xff\"",
        "\"\xf0\x9f\x98\"",
        "\"\xc3(\"",
        "{\"\xff\":1}",
        "\xef\xbb\xbf{}",
        NULL};
    for (const char **text = refused; *text; text++) expect_refused(*text);
    expect_string(
        "\"\xc2\x80\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\"",
        "\xc2\x80\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf");
}

static void malformed_texts_are_refused(void)
{
    const char *refused[] = {"",      " ",       "{",     "}",      "[1,]",      "[,1]", "{\"a\":1,}",
                             "{a:1}", "{\"a\"}", "[1 2]", "{} {}",  "tru",       "trux", "nulx",
                             "falsx", "nul",     "True",  "'a'",    "{\"a\":}",  "[1}",  "{\"a\":1]",
                             "/**/1", "{1:2}",   "[]]",   "\"a\"x", "{\"a\" 1}", NULL};
    for (const char **text = refused; *text; text++) expect_refused(*text);
    struct json json;
    EXPECT_INT(read_exactly(&json, "1\0", 2), JSON_INVALID);
    EXPECT_INT(read_exactly(&json, "\"a\0b\"", 5), JSON_INVALID);
}

static void the_number_of_values_is_bounded(void)
{
    size_t length = 2 * (size_t)JSON_VALUES + 8;
    char *text = malloc(length);
    struct json json;
    for (size_t i = 0; i < length; i++) text[i] = i % 2 ? ',' : '1';
    text[0] = '[';
    text[1] = '1';
    for (size_t i = 2; i < length; i++) text[i] = i % 2 ? '1' : ',';
    text[length - 1] = ']';
    EXPECT_INT(json_read(&json, text, length), JSON_TOO_BIG);
    free(text);
}

static void of_several_members_the_last_counts(void)
{
    struct json json;
    EXPECT_INT(read_text(&json, "{\"a\":1,\"b\":2,\"a\":3}"), JSON_OK);
    EXPECT_INT(json_integer(json.values, "a"), 3);
    EXPECT_INT(reach_value_count(json.values), 3);
    json_free(&json);
}

static void what_is_written_is_read(void)
{
    struct bytes text = {0};
    struct json json;
    char all[128];
    for (int i = 1; i < 128; i++) all[i - 1] = (char)i;
    all[127] = 0;
    json_open(&text, NULL, '{');
    json_put_text(&text, "all", all);
    json_put_text(&text, "\xc3\xa4\"", "\xf0\x9f\x98\x80");
    json_put_text(&text, "none", NULL);
    json_open(&text, "list", '[');
    json_put_integer(&text, NULL, INT64_MIN + 1);
    json_put_flag(&text, NULL, true);
    json_put_seconds(&text, NULL, 61050);
    json_close(&text, ']');
    json_put_raw(&text, "raw", "{\"x\":[]}", 8);
    json_close(&text, '}');
    EXPECT_INT(read_exactly(&json, text.data, text.count), JSON_OK);
    const reach_value *list = reach_value_member(json.values, "list");
    EXPECT_TEXT(json_text(json.values, "all"), all);
    EXPECT_TEXT(json_text(json.values, "\xc3\xa4\""), "\xf0\x9f\x98\x80");
    EXPECT_INT(reach_value_type(reach_value_member(json.values, "none")), REACH_TYPE_NULL);
    EXPECT_INT(reach_value_integer(reach_value_at(list, 0)), INT64_MIN + 1);
    EXPECT(reach_value_number(reach_value_at(list, 2)) == 61.05);
    EXPECT_INT(reach_value_count(reach_value_member(json.values, "raw")), 1);
    json_free(&json);
    bytes_free(&text);
    EXPECT(json_is_text("\xc3\xa4 \" \\ \n") && !json_is_text("\xff") && json_is_text(""));
}

static void base64_is_that_of_the_rfc(void)
{
    const char *due[] = {"\"\"",         "\"Zg==\"",     "\"Zm8=\"",    "\"Zm9v\"",
                         "\"Zm9vYg==\"", "\"Zm9vYmE=\"", "\"Zm9vYmFy\""};
    for (size_t i = 0; i < 7; i++) {
        struct bytes text = {0};
        json_put_base64(&text, NULL, "foobar", i);
        bytes_append(&text, "", 1);
        EXPECT_TEXT(text.data, due[i]);
        bytes_free(&text);
    }
}

const struct test tests[] = {
    {"C-001 values of each type are read, with spaces between them", values_are_read},
    {"C-002 a text that ends early is refused at each byte", truncated_texts_are_refused},
    {"C-003 nesting deeper than 64 is refused, also without an end", nesting_is_bounded},
    {"C-004 numbers of any size are read", numbers_are_read},
    {"C-005 numbers beyond 64 bits become the nearest integer", numbers_beyond_64_bits_are_cut},
    {"C-006 strings are decoded; NUL and halves of pairs become U+FFFD", strings_are_decoded},
    {"C-007 bad UTF-8 is refused, also in names of members", bad_utf8_is_refused},
    {"C-008 malformed texts are refused", malformed_texts_are_refused},
    {"C-009 a document of millions of values is refused", the_number_of_values_is_bounded},
    {"C-010 of several members with one name the last counts", of_several_members_the_last_counts},
    {"C-011 what is written is read again", what_is_written_is_read},
    {"C-012 base64 is that of RFC 4648", base64_is_that_of_the_rfc},
    {NULL, NULL},
};
