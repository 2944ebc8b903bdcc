// SPDX-License-Identifier: Apache-2.0
// System calls of tests alone: files without a name, tun devices.
#pragma once
#include "Verification.h"
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>

// The sizes of structures that Swift's Glibc module and the C targets share, as a C target sees them.
struct ctest_sizes {
    size_t stat, off_t, time_t, timespec, timeval, statvfs, dirent, epoll_event, rlimit;
};
struct ctest_sizes ctest_shared_sizes(void);

// Closes all but the standard descriptors in a child (posix_spawn_file_actions_addclosefrom_np, glibc 2.34).
int clinux_spawn_closes_others(posix_spawn_file_actions_t *actions);
// A file in memory, close-on-exec (memfd_create(2)).
int clinux_memfd_create(const char *name);
// Attaches an open /dev/net/tun to the device of this name; creates the device if it is missing (tun(4)).
int clinux_tun_attach(int descriptor, const char *name);
// Lets the device outlive its readers, or not.
int clinux_tun_persist(int descriptor, int persist);
// Subscribes a netlink socket to groups, given as the bits of the first 32 (netlink(7)).
int clinux_netlink_bind(int descriptor, uint32_t groups);
// The user that this thread opens files and connects to sockets as (setfsuid(2)).
void ctest_set_file_user(unsigned user);
// Bytes that the program has allocated by malloc(3) and not freed; by a sanitizer's count if there is one.
long ctest_allocated_bytes(void);
