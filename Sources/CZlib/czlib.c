// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLinux.h"
#include "CZlib.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

// Readable by packaging tools, as in CCurl (ELF .note.dlopen, UAPI specifications): one for each library, since either may be missing alone.
#define DLOPEN_NOTE(name, feature, description, soname)                                                            \
    __attribute__((used, aligned(4), section(".note.dlopen"))) static const struct {                               \
        struct {                                                                                                   \
            uint32_t name_size, description_size, type;                                                            \
        } header;                                                                                                  \
        char owner[4];                                                                                             \
        __attribute__((aligned(4))) char text[sizeof NOTE_TEXT(feature, description, soname)];                     \
    } name = {{4, sizeof NOTE_TEXT(feature, description, soname), 0x407c0c0a}, "FDO", NOTE_TEXT(feature, description, soname)};
#define NOTE_TEXT(feature, description, soname)                                                                    \
    "[{\"feature\":\"" feature "\",\"description\":\"" description                                                  \
    "\",\"priority\":\"suggested\",\"soname\":[\"" soname "\"]}]"
DLOPEN_NOTE(zlib_note, "gzip", "compressed requests and parked downloads", "libz.so.1")
DLOPEN_NOTE(brotli_note, "brotli", "parked downloads with content in Brotli", "libbrotlidec.so.1")

static struct {
    __typeof__(&deflateInit2_) init;
    __typeof__(&deflateBound) bound;
    __typeof__(&deflate) run;
    __typeof__(&deflateEnd) end;
} lib;

// Finds zlib; CZLIB_OUT_OF_MEMORY where it is there and cannot be mapped.
static czlib_result load(void) {
    void *handle = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        return clinux_explain_load(dlerror()) == CLINUX_MEMORY_SHORT ? CZLIB_OUT_OF_MEMORY : CZLIB_MISSING;
    }
    lib.init = (__typeof__(lib.init))dlsym(handle, "deflateInit2_");
    lib.bound = (__typeof__(lib.bound))dlsym(handle, "deflateBound");
    lib.run = (__typeof__(lib.run))dlsym(handle, "deflate");
    lib.end = (__typeof__(lib.end))dlsym(handle, "deflateEnd");
    return lib.init && lib.bound && lib.run && lib.end ? CZLIB_OK : CZLIB_MISSING;
}

static uInt piece(size_t count) { return count > UINT_MAX ? UINT_MAX : (uInt)count; }

czlib_result czlib_compress(const uint8_t *bytes, size_t count, bool gzip, int level, uint8_t **output,
                            size_t *output_count) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static czlib_result loaded = CZLIB_MISSING;
    pthread_mutex_lock(&lock);
    // Memory may have been short for a moment, or the library be installed meanwhile.
    if (loaded != CZLIB_OK) loaded = load();
    czlib_result outcome = loaded;
    pthread_mutex_unlock(&lock);
    if (outcome != CZLIB_OK) return outcome;

    z_stream stream = {0};
    // 16 more than the size of the window means gzip (zlib.h, deflateInit2).
    int window = gzip ? MAX_WBITS + 16 : MAX_WBITS;
    int code = lib.init(&stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, sizeof stream);
    if (code != Z_OK) return code == Z_MEM_ERROR ? CZLIB_OUT_OF_MEMORY : CZLIB_FAILED;

    size_t room = lib.bound(&stream, count), used = 0, taken = 0;
    uint8_t *buffer = malloc(room);
    if (!buffer) {
        lib.end(&stream);
        return CZLIB_OUT_OF_MEMORY;
    }
    // zlib counts in 32 bits: more than 4 GiB go in pieces.
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
