// SPDX-License-Identifier: Apache-2.0
// zlib's compression in one call; zlib itself, which libcurl brings anyway, is opened when it is first called.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    CZLIB_OK = 0,
    // libz.so.1 is not there, or lacks a function.
    CZLIB_MISSING,
    CZLIB_OUT_OF_MEMORY,
    CZLIB_FAILED,
} czlib_result;

// Compresses `count` bytes, as gzip (RFC 1952) or in zlib's format (RFC 1950), which HTTP calls deflate.
//
// `level` is 1 (fast) to 9 (small). `*output` is from malloc and belongs to the caller, where CZLIB_OK is returned. May be called
// by any number of threads at once.
czlib_result czlib_compress(const uint8_t *bytes, size_t count, bool gzip, int level, uint8_t **output,
                            size_t *output_count);
