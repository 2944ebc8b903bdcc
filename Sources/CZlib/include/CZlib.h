// SPDX-License-Identifier: Apache-2.0
// zlib's compression in one call, and the decoding of content piece by piece; zlib and brotli, which libcurl
// brings anyway, are opened with their first use.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    CZLIB_OK = 0,
    // The library is missing, or lacks a function.
    CZLIB_MISSING,
    CZLIB_OUT_OF_MEMORY,
    CZLIB_FAILED,
} czlib_result;

// Compresses `count` bytes, as gzip (RFC 1952) or in zlib's format (RFC 1950), which HTTP calls deflate.
//
// `level` is 1 (fast) to 9 (small). With CZLIB_OK `*output` is from malloc and belongs to the caller. Called
// by any number of threads at once.
czlib_result czlib_compress(const uint8_t *bytes, size_t count, bool gzip, int level, uint8_t **output,
                            size_t *output_count);

// The coding of compressed content (RFC 9110 §8.4.1, RFC 7932).
typedef enum { CZLIB_GZIP, CZLIB_DEFLATE, CZLIB_BROTLI } czlib_coding;
typedef struct czlib_decoder czlib_decoder;

// Whether the coding's library is available.
bool czlib_can_decode(czlib_coding coding);
// Whether the library exists and cannot be opened, for lack of memory or address space.
bool czlib_is_memory_short(czlib_coding coding);
// NULL if the library or memory is missing. A decoder is used by one thread at a time.
czlib_decoder *czlib_decoder_open(czlib_coding coding);
// Decodes as much as fits into `room`, at most 4 GiB; advances `*bytes` and `*count` past the input read.
// With `*count` 0 and `*made` below `room` it needs more input.
czlib_result czlib_decode(czlib_decoder *decoder, const uint8_t **bytes, size_t *count, uint8_t *output, size_t room,
                          size_t *made);
// Whether the bytes so far are complete, or there were none.
bool czlib_decoder_is_whole(const czlib_decoder *decoder);
void czlib_decoder_close(czlib_decoder *decoder);
