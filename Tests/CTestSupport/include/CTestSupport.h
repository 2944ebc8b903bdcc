// SPDX-License-Identifier: Apache-2.0
// What only tests need: files without a name, tun devices.
#pragma once
#include "Verification.h"
#include <spawn.h>
#include <stdint.h>

// Lets a child have its standard descriptors and no others (posix_spawn_file_actions_addclosefrom_np, glibc 2.34).
int clinux_spawn_closes_others(posix_spawn_file_actions_t *actions);
// A file in memory, close-on-exec (memfd_create(2)).
int clinux_memfd_create(const char *name);
// Attaches an open /dev/net/tun to the device of this name, which it creates where there is none (tun(4)).
int clinux_tun_attach(int descriptor, const char *name);
// Lets the device outlive its readers, or not.
int clinux_tun_persist(int descriptor, int persist);
// Subscribes a netlink socket to groups, of which the first 32 have a bit each (netlink(7)).
int clinux_netlink_bind(int descriptor, uint32_t groups);
// Bytes that the program has taken from malloc(3) and not given back, by the count of a sanitizer where there is one.
long ctest_allocated_bytes(void);
