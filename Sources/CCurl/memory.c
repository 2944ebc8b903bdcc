// SPDX-License-Identifier: Apache-2.0
// Reuses the blocks that libcurl allocates and frees with each request.
//
// Two of them, the receive buffer and the record of the request, are larger than glibc's cache of a thread
// (1,032 bytes): each allocation takes the arena's lock, searches its bins, and merges small chunks on the
// way. A few blocks of each kind are stored here instead, for the whole process.
#define _GNU_SOURCE
#include "CCurl.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 4 };

typedef struct {
    const size_t above;  // Requests of more bytes than this,
    const size_t size;   // up to this many, get a block of this size.
    _Atomic(void *) blocks[CAPACITY];
} pool;

enum { SMALL = 1032, NOTES = 2048, BUFFER = 16448, SLACK = 64 };
// libcurl's buffer has 16 KiB and a byte (CURLOPT_BUFFERSIZE(3)).
static pool notes = {SMALL, NOTES, {NULL}}, buffers = {BUFFER / 2, BUFFER, {NULL}};

static void *reuse(pool *s) {
    for (int i = 0; i < CAPACITY; i++) {
        if (!atomic_load_explicit(&s->blocks[i], memory_order_relaxed)) continue;
        void *memory = atomic_exchange_explicit(&s->blocks[i], NULL, memory_order_acquire);
        if (memory) return memory;
    }
    return malloc(s->size);
}

static int store(pool *s, void *memory) {
    for (int i = 0; i < CAPACITY; i++) {
        void *none = NULL;
        if (atomic_load_explicit(&s->blocks[i], memory_order_relaxed)) continue;
        if (atomic_compare_exchange_strong_explicit(
                &s->blocks[i], &none, memory, memory_order_release, memory_order_relaxed))
            return 1;
    }
    return 0;
}

static int fits(const pool *s, size_t size) { return size > s->above && size <= s->size; }
static int is_of(const pool *s, size_t usable) { return usable >= s->size && usable <= s->size + SLACK; }

void *ccurl_malloc(size_t size) {
    if (size <= SMALL) return malloc(size);
    return fits(&notes, size) ? reuse(&notes) : fits(&buffers, size) ? reuse(&buffers) : malloc(size);
}

void ccurl_free(void *memory) {
    // The most frequent call of libcurl: frees parts that the request does not have.
    if (!memory) return;
    size_t usable = malloc_usable_size(memory);
    if (usable >= NOTES) {
        if (is_of(&notes, usable) && store(&notes, memory)) return;
        if (is_of(&buffers, usable) && store(&buffers, memory)) return;
    }
    free(memory);
}

// Avoids calloc(3) for small blocks, since calloc before glibc 2.41 does not use the thread's cache; large
// blocks come from the kernel as zeros, which calloc leaves untouched.
void *ccurl_calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    if (bytes > NOTES) return calloc(1, bytes);
    void *memory = ccurl_malloc(bytes);
    if (!memory) return NULL;
    __asm__("" : "+r"(memory));  // Keeps the compiler from making a calloc of the two calls.
    return memset(memory, 0, bytes);
}
