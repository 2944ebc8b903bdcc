// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CTestSupport.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// The numbers that all architectures share since Linux 5.1.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int clinux_pidfd_open(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int clinux_pidfd_send_signal(int descriptor, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

int clinux_spawn_closes_others(posix_spawn_file_actions_t *actions) {
    return posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
}

int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int clinux_memfd_create(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

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
