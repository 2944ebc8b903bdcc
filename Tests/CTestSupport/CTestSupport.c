// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CTestSupport.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <malloc.h>
#include <net/if.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct ctest_sizes ctest_shared_sizes(void) {
    return (struct ctest_sizes){
        .stat = sizeof(struct stat), .off_t = sizeof(off_t), .time_t = sizeof(time_t),
        .timespec = sizeof(struct timespec), .timeval = sizeof(struct timeval), .statvfs = sizeof(struct statvfs),
        .dirent = sizeof(struct dirent), .epoll_event = sizeof(struct epoll_event), .rlimit = sizeof(struct rlimit)};
}

int clinux_spawn_closes_others(posix_spawn_file_actions_t *actions) {
    return posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
}

int clinux_memfd_create(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

void ctest_set_file_user(unsigned user) { setfsuid(user); }

int clinux_tun_attach(int descriptor, const char *name) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    return ioctl(descriptor, TUNSETIFF, &request);
}

int clinux_tun_persist(int descriptor, int persist) { return ioctl(descriptor, TUNSETPERSIST, persist); }

int clinux_netlink_bind(int descriptor, uint32_t groups) {
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups = groups;
    return bind(descriptor, (const struct sockaddr *)&address, sizeof address);
}

// <sanitizer/allocator_interface.h>; there only in programs that a sanitizer is linked to.
__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

long ctest_allocated_bytes(void) {
    if (__sanitizer_get_current_allocated_bytes) return (long)__sanitizer_get_current_allocated_bytes();
    struct mallinfo2 information = mallinfo2();
    return (long)(information.uordblks + information.hblkhd);
}
