/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of C code: each has a title with its number, runs in the order of the file, and ends the program
 * where an expectation fails.
 */
#ifndef REACH_TEST_H
#define REACH_TEST_H

#include <stdbool.h>
#include <stddef.h>

struct test {
    const char *title;
    void (*run)(void);
};

/* The tests of the program; the last is empty. */
extern const struct test tests[];

/* Ends the program with a failure. */
_Noreturn void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define EXPECT(condition) ((condition) ? (void)0 : test_fail(__FILE__, __LINE__, "not: %s", #condition))
#define EXPECT_INT(is, due) test_expect_int(__FILE__, __LINE__, #is, (long long)(is), (long long)(due))
#define EXPECT_TEXT(is, due) test_expect_text(__FILE__, __LINE__, #is, (is), (due))
/* The text has the other in it. */
#define EXPECT_HAS(text, part) test_expect_part(__FILE__, __LINE__, #text, (text), (part))

void test_expect_int(const char *file, int line, const char *what, long long is, long long due);
void test_expect_text(const char *file, int line, const char *what, const char *is, const char *due);
void test_expect_part(const char *file, int line, const char *what, const char *text, const char *part);

#endif
