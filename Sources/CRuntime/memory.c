// SPDX-License-Identifier: Apache-2.0

#include "CRuntime.h"

#include <malloc.h>
#include <sys/resource.h>

void cruntime_prepare_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
#endif
}
