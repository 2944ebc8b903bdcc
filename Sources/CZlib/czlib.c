// SPDX-License-Identifier: Apache-2.0
#include "CLoader.h"
#include "CZlib.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

// Two notes, since either library may be missing alone.
CLOADER_NOTE(zlib_note, "gzip", "compressed requests and parked downloads", "suggested", "libz.so.1")
CLOADER_NOTE(brotli_note, "brotli", "parked downloads with content in Brotli", "suggested", "libbrotlidec.so.1")

static struct {
    __typeof__(&deflateInit2_) init;
    __typeof__(&deflateBound) bound;
    __typeof__(&deflate) run;
    __typeof__(&deflateEnd) end;
} lib;

static int load(void) {
    cloader_message message;
    switch (cloader_open("libz.so.1", "deflateInit2_\0deflateBound\0deflate\0deflateEnd\0", &lib, &message)) {
    case CLOADER_LOADED: return CZLIB_OK;
    case CLOADER_NO_MEMORY: return CZLIB_OUT_OF_MEMORY;
    default: return CZLIB_MISSING;
    }
}

static uInt piece(size_t count) { return count > UINT_MAX ? UINT_MAX : (uInt)count; }

czlib_result czlib_compress(const uint8_t *bytes, size_t count, bool gzip, int level, uint8_t **output,
                            size_t *output_count) {
    static cloader_state state = CLOADER_UNLOADED;
    czlib_result outcome = cloader_run(&state, load);
    if (outcome != CZLIB_OK) return outcome;

    z_stream stream = {0};
    // Adding 16 to the window size selects gzip (zlib.h, deflateInit2).
    int window = gzip ? MAX_WBITS + 16 : MAX_WBITS;
    int code = lib.init(&stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, sizeof stream);
    if (code != Z_OK) return code == Z_MEM_ERROR ? CZLIB_OUT_OF_MEMORY : CZLIB_FAILED;

    size_t room = lib.bound(&stream, count), used = 0, taken = 0;
    uint8_t *buffer = malloc(room);
    if (!buffer) {
        lib.end(&stream);
        return CZLIB_OUT_OF_MEMORY;
    }
    // zlib counts in 32 bits, so more than 4 GiB go in pieces.
    do {
        uInt in = piece(count - taken), out = piece(room - used);
        stream.next_in = (Bytef *)bytes + taken;
        stream.avail_in = in;
        stream.next_out = buffer + used;
        stream.avail_out = out;
        code = lib.run(&stream, taken + in == count ? Z_FINISH : Z_NO_FLUSH);
        taken += in - stream.avail_in;
        used += out - stream.avail_out;
    } while (code == Z_OK);
    lib.end(&stream);
    if (code != Z_STREAM_END) {
        free(buffer);
        return CZLIB_FAILED;
    }
    *output = buffer;
    *output_count = used;
    return CZLIB_OK;
}
