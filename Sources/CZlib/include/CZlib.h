// SPDX-License-Identifier: Apache-2.0
// zlib's compression in one call, and the decoding of content piece by piece; zlib and brotli themselves, which libcurl
// brings anyway, are opened when they are first needed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    CZLIB_OK = 0,
    // The library is not there, or lacks a function.
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

// How content was made smaller (RFC 9110 §8.4.1, RFC 7932).
typedef enum { CZLIB_GZIP, CZLIB_DEFLATE, CZLIB_BROTLI } czlib_coding;
typedef struct czlib_decoder czlib_decoder;

// Whether the library for it is there.
bool czlib_can_decode(czlib_coding coding);
// Whether the library is there and cannot be opened, for lack of memory or address space.
bool czlib_is_memory_short(czlib_coding coding);
// NULL where the library or memory is missing. A decoder is used by one thread at a time.
czlib_decoder *czlib_decoder_open(czlib_coding coding);
// Decodes what fits into `room`, at most 4 GiB; moves `*bytes` and `*count` over what was read. With `*count` 0 and `*made` below
// `room` it has to have more bytes.
czlib_result czlib_decode(czlib_decoder *decoder, const uint8_t **bytes, size_t *count, uint8_t *output, size_t room,
                          size_t *made);
// Whether the bytes so far end where the coding ends, or there were none.
bool czlib_decoder_is_whole(const czlib_decoder *decoder);
void czlib_decoder_close(czlib_decoder *decoder);
