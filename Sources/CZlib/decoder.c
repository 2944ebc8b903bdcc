// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"
#include "CZlib.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

// brotli/decode.h, whose ABI is stable since 1.0; its headers are not needed to build this.
enum { BROTLI_ERROR = 0, BROTLI_SUCCESS = 1 };
typedef struct brotli_state brotli_state;

static struct {
    __typeof__(&inflateInit2_) init;
    __typeof__(&inflate) run;
    __typeof__(&inflateReset) reset;
    __typeof__(&inflateEnd) end;
} zip;
static struct {
    brotli_state *(*create)(void *, void *, void *);
    int (*run)(brotli_state *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
    void (*destroy)(brotli_state *);
} brotli;
static bool has_zip, has_brotli;
// Whether a library is there and cannot be mapped.
static bool is_zip_short, is_brotli_short;

static bool is_memory_short(void) { return clinux_explain_load(dlerror()) == CLINUX_MEMORY_SHORT; }

static void load(void) {
    void *handle = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    is_zip_short = !handle && is_memory_short();
    if (handle) {
        zip.init = (__typeof__(zip.init))dlsym(handle, "inflateInit2_");
        zip.run = (__typeof__(zip.run))dlsym(handle, "inflate");
        zip.reset = (__typeof__(zip.reset))dlsym(handle, "inflateReset");
        zip.end = (__typeof__(zip.end))dlsym(handle, "inflateEnd");
        has_zip = zip.init && zip.run && zip.reset && zip.end;
    }
    handle = dlopen("libbrotlidec.so.1", RTLD_NOW | RTLD_LOCAL);
    is_brotli_short = !handle && is_memory_short();
    if (handle) {
        brotli.create = (__typeof__(brotli.create))dlsym(handle, "BrotliDecoderCreateInstance");
        brotli.run = (__typeof__(brotli.run))dlsym(handle, "BrotliDecoderDecompressStream");
        brotli.destroy = (__typeof__(brotli.destroy))dlsym(handle, "BrotliDecoderDestroyInstance");
        has_brotli = brotli.create && brotli.run && brotli.destroy;
    }
}

struct czlib_decoder {
    czlib_coding coding;
    // Whether zlib's part is set up: for deflate the first two bytes tell its format.
    bool is_ready;
    bool has_begun, is_whole;
    uint8_t first[2];
    size_t first_count;
    z_stream stream;
    brotli_state *brotli;
};

bool czlib_can_decode(czlib_coding coding) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return coding == CZLIB_BROTLI ? has_brotli : has_zip;
}

bool czlib_is_memory_short(czlib_coding coding) {
    return !czlib_can_decode(coding) && (coding == CZLIB_BROTLI ? is_brotli_short : is_zip_short);
}

czlib_decoder *czlib_decoder_open(czlib_coding coding) {
    if (!czlib_can_decode(coding)) return NULL;
    czlib_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->coding = coding;
    if (coding == CZLIB_BROTLI && !(decoder->brotli = brotli.create(NULL, NULL, NULL))) {
        free(decoder);
        return NULL;
    }
    return decoder;
}

void czlib_decoder_close(czlib_decoder *decoder) {
    if (!decoder) return;
    if (decoder->brotli) brotli.destroy(decoder->brotli);
    if (decoder->is_ready) zip.end(&decoder->stream);
    free(decoder);
}

bool czlib_decoder_is_whole(const czlib_decoder *decoder) { return decoder->is_whole || !decoder->has_begun; }

static czlib_result set_up(czlib_decoder *decoder) {
    int window = MAX_WBITS + 16;  // gzip (zlib.h, inflateInit2)
    if (decoder->coding == CZLIB_DEFLATE) {
        // HTTP's deflate is zlib's format (RFC 9110 §8.4.1.2), and some servers send the bare stream: RFC 1950 §2.2 tells them apart.
        unsigned head = decoder->first[0] << 8 | decoder->first[1];
        window = (head >> 8 & 15) == Z_DEFLATED && head % 31 == 0 ? MAX_WBITS : -MAX_WBITS;
    }
    int code = zip.init(&decoder->stream, window, ZLIB_VERSION, sizeof decoder->stream);
    decoder->is_ready = code == Z_OK;
    return code == Z_OK ? CZLIB_OK : code == Z_MEM_ERROR ? CZLIB_OUT_OF_MEMORY : CZLIB_FAILED;
}

static czlib_result run_zip(czlib_decoder *decoder, const uint8_t **bytes, size_t *count, uint8_t *output,
                            size_t room, size_t *made) {
    z_stream *stream = &decoder->stream;
    stream->next_in = (Bytef *)*bytes;
    stream->avail_in = *count > UINT_MAX ? UINT_MAX : (uInt)*count;
    stream->next_out = output;
    stream->avail_out = (uInt)room;
    int code = zip.run(stream, Z_NO_FLUSH);
    *made += room - stream->avail_out;
    *count -= (size_t)(stream->next_in - *bytes);
    *bytes = stream->next_in;
    if (code == Z_STREAM_END) decoder->is_whole = true;
    // Z_BUF_ERROR: there was nothing to do.
    if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR) return CZLIB_OK;
    return code == Z_MEM_ERROR ? CZLIB_OUT_OF_MEMORY : CZLIB_FAILED;
}

static czlib_result run_brotli(czlib_decoder *decoder, const uint8_t **bytes, size_t *count, uint8_t *output,
                               size_t room, size_t *made) {
    size_t left = room;
    int code = brotli.run(decoder->brotli, count, bytes, &left, &output, NULL);
    *made += room - left;
    if (code == BROTLI_SUCCESS) decoder->is_whole = true;
    return code == BROTLI_ERROR ? CZLIB_FAILED : CZLIB_OK;
}

czlib_result czlib_decode(czlib_decoder *decoder, const uint8_t **bytes, size_t *count, uint8_t *output,
                          size_t room, size_t *made) {
    *made = 0;
    if (*count) decoder->has_begun = true;
    if (decoder->coding == CZLIB_BROTLI) {
        if (!decoder->is_whole) return run_brotli(decoder, bytes, count, output, room, made);
        *bytes += *count;
        *count = 0;
        return CZLIB_OK;
    }
    if (decoder->is_whole && *count) {
        // A file of several members is their concatenation (RFC 1952 §2.2); anything else behind the end is nobody's content.
        if (decoder->coding != CZLIB_GZIP || **bytes != 0x1F) {
            *bytes += *count;
            *count = 0;
            return CZLIB_OK;
        }
        if (zip.reset(&decoder->stream) != Z_OK) return CZLIB_FAILED;
        decoder->is_whole = false;
    }
    if (!decoder->is_ready) {
        while (decoder->first_count < 2 && *count) {
            decoder->first[decoder->first_count++] = *(*bytes)++;
            --*count;
        }
        if (decoder->first_count < 2) return CZLIB_OK;
        czlib_result result = set_up(decoder);
        if (result != CZLIB_OK) return result;
        const uint8_t *head = decoder->first;
        size_t head_count = 2;
        result = run_zip(decoder, &head, &head_count, output, room, made);
        if (result != CZLIB_OK) return result;
        output += *made;
        room -= *made;
    }
    return run_zip(decoder, bytes, count, output, room, made);
}
