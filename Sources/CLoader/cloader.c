// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CLoader.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

cloader_result cloader_explain(const char *message) {
    if (strstr(message, strerror(EMFILE)) || strstr(message, strerror(ENFILE))) return CLOADER_NO_RESOURCES;
    // glibc's words where mmap(2) or malloc(3) fails, mostly without an errno (elf/dl-load.c,
    // dl-map-segments.h, dl-minimal.c).
    static const char *const shortages[] = {
        "failed to map segment", "cannot map zero-fill pages", "cannot change memory protections",
        "cannot allocate", "cannot create shared object descriptor", "cannot create cache",
        "out of memory", "Out of memory",
    };
    if (strstr(message, strerror(ENOMEM))) return CLOADER_NO_MEMORY;
    // A file system that is mounted noexec gives the same words, in older versions with an errno.
    if (strstr(message, strerror(EPERM)) || strstr(message, strerror(EACCES))) return CLOADER_NOT_FOUND;
    // Exhausted thread-local storage is no lack of memory.
    if (strstr(message, "static TLS")) return CLOADER_NOT_FOUND;
    for (size_t i = 0; i < sizeof shortages / sizeof *shortages; i++) {
        if (strstr(message, shortages[i])) return CLOADER_NO_MEMORY;
    }
    return CLOADER_NOT_FOUND;
}

const char *cloader_find(void *handle, const char *names, void *functions) {
    char *next = functions;
    for (const char *name = names; *name; name += strlen(name) + 1, next += sizeof(void *)) {
        void *function = dlsym(handle, name);
        if (!function) return name;
        memcpy(next, &function, sizeof function);
    }
    return NULL;
}

cloader_result cloader_open(const char *soname, const char *names, void *functions, cloader_message *message) {
    // RTLD_LAZY would save a twelfth of the work of `reach get`, and end a service at its first call of a
    // function that one of the libraries below lacks, as after half an upgrade; here that is an error.
    void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(message->text, sizeof message->text, "%s", dlerror());
        return cloader_explain(message->text);
    }
    const char *missing = cloader_find(handle, names, functions);
    if (!missing) return CLOADER_LOADED;
    snprintf(message->text, sizeof message->text, "%s has no %s", soname, missing);
    return CLOADER_SYMBOL_MISSING;
}

int cloader_run(cloader_state *state, int (*load)(void)) {
    pthread_mutex_lock(&state->lock);
    int result = state->is_loaded ? 0 : load();
    state->is_loaded = result == 0;
    pthread_mutex_unlock(&state->lock);
    return result;
}
