// SPDX-License-Identifier: Apache-2.0
//
// Shows the leak detector objects that have weak references.
//
// Such an object has its counts in a side table, behind a pointer that is shifted by three bits, and the
// table points to the object. The detector does not know the shifted pointer again, so it would report
// each table. A suppression counts as a reason to live, for the table and for all that can be reached
// from it: an object with weak references that leaks would never be found. So these functions
// (LD_PRELOAD) call what makes side tables, exempt the table, and have the detector ignore its pointer:
// it follows none in poisoned memory. Swift's runtime, which alone uses the table, is not instrumented.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// The test program contains the sanitizer's run-time library; other programs that inherit the preload do not.
extern void __lsan_ignore_object(const void *) __attribute__((weak));
extern void __asan_poison_memory_region(const volatile void *, size_t) __attribute__((weak));

// Two bits above say that the rest is a side table's address (swift::RefCountBitsT).
enum { SIDE_TABLE = 3, SHIFT = 3 };

static void exempt(void *object) {
    if (!object || !__lsan_ignore_object || !__asan_poison_memory_region) return;
    uint64_t counts = __atomic_load_n((uint64_t *)object + 1, __ATOMIC_ACQUIRE);
    // Objects that live as long as the program have none.
    if (counts >> 62 != SIDE_TABLE) return;
    void **table = (void **)(uintptr_t)(counts << 2 >> 2 << SHIFT);
    if (__atomic_load_n(table, __ATOMIC_RELAXED) != object) {
        fprintf(stderr, "Tests/Sanitizers/weak.c: this toolchain has other side tables\n");
        abort();
    }
    __lsan_ignore_object(table);
    __asan_poison_memory_region(table, sizeof *table);
}

static void *original(const char *symbol) {
    void *function = dlsym(RTLD_NEXT, symbol);
    if (!function) {
        fprintf(stderr, "Tests/Sanitizers/weak.c: this toolchain has no %s\n", symbol);
        abort();
    }
    return function;
}

void *swift_weakInit(void *reference, void *object);
void *swift_weakAssign(void *reference, void *object);

void *swift_weakInit(void *reference, void *object) {
    void *result = ((void *(*)(void *, void *))original("swift_weakInit"))(reference, object);
    exempt(object);
    return result;
}

void *swift_weakAssign(void *reference, void *object) {
    void *result = ((void *(*)(void *, void *))original("swift_weakAssign"))(reference, object);
    exempt(object);
    return result;
}
