/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzzer for machines whose compiler has none: changes seeds at random, the same way in each run.
 *   mutate RUNS SEED …
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROOM 8192

static uint64_t state = 88172645463325252u;

/* xorshift64 (Marsaglia 2003) */
static size_t below(size_t bound)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return bound ? (size_t)(state % bound) : 0;
}

static size_t change(uint8_t *data, size_t size)
{
    static const char *const parts[] = {"\0", "{",       "}",       "[",     "]", "\"",   ",",
                                        ":",  "\\u0000", "\\ud800", "1e999", "-", "null", "\xff"};
    size_t at = below(size + 1), count = below(16);
    switch (below(5)) {
    case 0:
        if (at < size) data[at] = (uint8_t)below(256);
        return size;
    case 1:
        if (at + count > size) count = size - at;
        memmove(data + at, data + at + count, size - at - count);
        return size - count;
    case 2: {
        const char *part = parts[below(sizeof parts / sizeof *parts)];
        size_t length = *part ? strlen(part) : 1;
        if (size + length > ROOM) return size;
        memmove(data + at + length, data + at, size - at);
        memcpy(data + at, part, length);
        return size + length;
    }
    case 3:
        if (size + count > ROOM || at + count > size) return size;
        memmove(data + at + count, data + at, size - at);
        return size + count;
    default: return size ? below(size) + 1 : 0;
    }
}

int main(int count, char **words)
{
    if (count < 3) return 64;
    long runs = atol(words[1]);
    for (long run = 0; run < runs; run++) {
        static uint8_t data[ROOM];
        FILE *file = fopen(words[2 + below((size_t)count - 2)], "rb");
        if (!file) return 66;
        size_t size = fread(data, 1, ROOM / 2, file);
        fclose(file);
        for (size_t changes = below(8); changes > 0; changes--) size = change(data, size);
        /* A copy of its size, so that reading behind the end is found. */
        uint8_t *copy = malloc(size ? size : 1);
        memcpy(copy, data, size);
        LLVMFuzzerTestOneInput(copy, size);
        free(copy);
    }
    printf("%ld runs\n", runs);
    return 0;
}
