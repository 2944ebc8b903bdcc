// SPDX-License-Identifier: Apache-2.0
#include "CRuntime.h"

// Any header of the C library defines __GLIBC__ where it is glibc.
#include <stdlib.h>

static int count;
static char **arguments;

// CommandLine.swift gets the arguments from the runtime, whose static build searches the stack below
// `environ` for them. If a preloaded library calls setenv(3) in its constructor, `environ` moves to the heap
// first, and the search finds nothing (CommandLine.cpp).
extern void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int count) __attribute__((weak));

#ifdef __GLIBC__
// glibc calls constructors with the arguments of main (call_init in csu/libc-start.c and elf/dl-init.c).
__attribute__((constructor)) static void keep(int argc, char **argv) {
    if (argc < 1 || !argv) return;
    count = argc;
    arguments = argv;
    // The argument words that CommandLine has on other platforms.
    if (_swift_stdlib_overrideUnsafeArgvArgc) _swift_stdlib_overrideUnsafeArgvArgc(argv, argc);
}
#endif

int cruntime_argument_count(void) { return count; }
char *const *cruntime_arguments(void) { return arguments; }
