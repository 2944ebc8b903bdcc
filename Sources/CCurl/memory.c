// SPDX-License-Identifier: Apache-2.0
// What libcurl takes and gives back with each request, at hand.
//
// Two of its blocks, the buffer that it reads into and its notes about the request, are larger than what glibc keeps for a thread
// (1,032 bytes): each of them takes the lock of the arena, looks through its bins, and puts small chunks together on the way.
// A few of each kind are kept here instead, for the whole process.
#define _GNU_SOURCE
#include "CCurl.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 4 };

typedef struct {
    const size_t above;  // Requests of more bytes than this,
    const size_t size;   // up to this many, get a block of this size.
    _Atomic(void *) kept[KEPT];
} shelf;

enum { SMALL = 1032, NOTES = 2048, BUFFER = 16448, SLACK = 64 };
// libcurl's buffer has 16 KiB and a byte (CURLOPT_BUFFERSIZE(3)).
static shelf notes = {SMALL, NOTES, {NULL}}, buffers = {BUFFER / 2, BUFFER, {NULL}};

static void *take(shelf *s) {
    for (int i = 0; i < KEPT; i++) {
        if (!atomic_load_explicit(&s->kept[i], memory_order_relaxed)) continue;
        void *memory = atomic_exchange_explicit(&s->kept[i], NULL, memory_order_acquire);
        if (memory) return memory;
    }
    return malloc(s->size);
}

static int keep(shelf *s, void *memory) {
    for (int i = 0; i < KEPT; i++) {
        void *none = NULL;
        if (atomic_load_explicit(&s->kept[i], memory_order_relaxed)) continue;
        if (atomic_compare_exchange_strong_explicit(
                &s->kept[i], &none, memory, memory_order_release, memory_order_relaxed))
            return 1;
    }
    return 0;
}

static int fits(const shelf *s, size_t size) { return size > s->above && size <= s->size; }
static int is_of(const shelf *s, size_t usable) { return usable >= s->size && usable <= s->size + SLACK; }

void *ccurl_malloc(size_t size) {
    if (size <= SMALL) return malloc(size);
    return fits(&notes, size) ? take(&notes) : fits(&buffers, size) ? take(&buffers) : malloc(size);
}

void ccurl_free(void *memory) {
    // Most calls of libcurl's: whatever a request may have and this one has not.
    if (!memory) return;
    size_t usable = malloc_usable_size(memory);
    if (usable >= NOTES) {
        if (is_of(&notes, usable) && keep(&notes, memory)) return;
        if (is_of(&buffers, usable) && keep(&buffers, memory)) return;
    }
    free(memory);
}

// Small ones are not for calloc(3): before glibc 2.41 that passes over what the thread has at hand. Of large ones it leaves untouched what
// comes from the kernel.
void *ccurl_calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    if (bytes > NOTES) return calloc(1, bytes);
    void *memory = ccurl_malloc(bytes);
    if (!memory) return NULL;
    __asm__("" : "+r"(memory));  // Or the compiler makes a calloc of the two.
    return memset(memory, 0, bytes);
}
