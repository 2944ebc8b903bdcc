// SPDX-License-Identifier: Apache-2.0
// What glibc declares for _GNU_SOURCE alone, or in headers that belong to Swift's Glibc module; every other function of this
// target is inline in its header.
#define _GNU_SOURCE
#include "CLinux.h"

#include <spawn.h>
#include <sys/socket.h>

int clinux_accept(int descriptor) { return accept4(descriptor, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

int clinux_peer_credentials(int descriptor, struct clinux_credentials *peer) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    *peer = (struct clinux_credentials){credentials.pid, credentials.uid, credentials.gid};
    return 0;
}

int clinux_spawn_in_directory(void *actions, int descriptor) {
    return posix_spawn_file_actions_addfchdir_np(actions, descriptor);
}
