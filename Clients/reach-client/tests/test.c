/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *current = "";

_Noreturn void test_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "FAIL %s\n  %s:%d: ", current, file, line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    fflush(NULL);
    _exit(1);
}

void test_expect_int(const char *file, int line, const char *what, long long is, long long due)
{
    if (is != due) test_fail(file, line, "%s is %lld and not %lld", what, is, due);
}

void test_expect_text(const char *file, int line, const char *what, const char *is, const char *due)
{
    if (!is != !due || (is && strcmp(is, due) != 0)) {
        test_fail(file, line, "%s is \"%s\" and not \"%s\"", what, is ? is : "(null)", due ? due : "(null)");
    }
}

void test_expect_part(const char *file, int line, const char *what, const char *text, const char *part)
{
    if (!text || !strstr(text, part)) {
        test_fail(file, line, "%s is \"%s\", without \"%s\"", what, text ? text : "(null)", part);
    }
}

/* Runs the tests whose titles begin with an argument, or all. */
int main(int count, char **words)
{
    int passed = 0;
    /* A library must not need that its user ignores it. */
    signal(SIGPIPE, SIG_DFL);
    /* What hangs is a failure as well. */
    alarm(300);
    for (const struct test *test = tests; test->title; test++) {
        bool is_chosen = count == 1;
        for (int i = 1; i < count; i++) is_chosen |= strncmp(test->title, words[i], strlen(words[i])) == 0;
        if (!is_chosen) continue;
        current = test->title;
        test->run();
        passed++;
        printf("ok %s\n", test->title);
        fflush(stdout);
    }
    printf("%d tests passed\n", passed);
    return passed > 0 ? 0 : 1;
}
