// SPDX-License-Identifier: Apache-2.0
#include "CLoader.h"
#include "CZlib.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

// From brotli/decode.h, whose ABI is stable since 1.0, so that building needs no headers of it.
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
static cloader_result zip_result, brotli_result;

static void load(void) {
    cloader_message message;
    zip_result = cloader_open("libz.so.1", "inflateInit2_\0inflate\0inflateReset\0inflateEnd\0", &zip, &message);
    brotli_result = cloader_open(
        "libbrotlidec.so.1",
        "BrotliDecoderCreateInstance\0BrotliDecoderDecompressStream\0BrotliDecoderDestroyInstance\0", &brotli, &message);
}

static cloader_result result_of(czlib_coding coding) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return coding == CZLIB_BROTLI ? brotli_result : zip_result;
}

struct czlib_decoder {
    czlib_coding coding;
    // Whether zlib's stream is initialised; with deflate the first two bytes decide its format.
    bool is_ready;
    bool has_begun, is_whole;
    uint8_t first[2];
    size_t first_count;
    z_stream stream;
    brotli_state *brotli;
};

bool czlib_can_decode(czlib_coding coding) { return result_of(coding) == CLOADER_LOADED; }

bool czlib_is_memory_short(czlib_coding coding) { return result_of(coding) == CLOADER_NO_MEMORY; }

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
        // HTTP's deflate is zlib's format (RFC 9110 §8.4.1.2), and some servers send the bare stream; RFC
        // 1950 §2.2 distinguishes the two.
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
        // A file of several members is their concatenation (RFC 1952 §2.2); other bytes after the end are
        // ignored.
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
