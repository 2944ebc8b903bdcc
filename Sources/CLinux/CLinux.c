// SPDX-License-Identifier: Apache-2.0
// Functions that glibc declares for _GNU_SOURCE alone, or in headers that belong to Swift's Glibc module; all
// other functions of this target are inline in its header.
#define _GNU_SOURCE
#include "CLinux.h"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>

// What is read of libc's tcp_info is where the kernel writes it (linux/tcp.h, which cannot be included too).
_Static_assert(offsetof(struct tcp_info, tcpi_backoff) == 4 && offsetof(struct tcp_info, tcpi_snd_mss) == 16 &&
                   offsetof(struct tcp_info, tcpi_unacked) == 24 && offsetof(struct tcp_info, tcpi_sacked) == 28 &&
                   offsetof(struct tcp_info, tcpi_last_ack_recv) == 56 && offsetof(struct tcp_info, tcpi_rtt) == 68 &&
                   offsetof(struct tcp_info, tcpi_rttvar) == 72,
               "struct tcp_info has another layout here");
_Static_assert(sizeof(struct ucred) == 12 && sizeof(struct clinux_credentials) == 12, "struct ucred has another layout here");

int clinux_set_send_timeout(int descriptor, int64_t nanoseconds) {
    struct timeval time = {.tv_sec = nanoseconds / 1000000000, .tv_usec = nanoseconds / 1000 % 1000000};
    return setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

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

int clinux_queue_icmp_errors(int descriptor, int family) {
    int on = 1;
    return family == AF_INET6 ? setsockopt(descriptor, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on)
                              : setsockopt(descriptor, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
}

int clinux_next_icmp_error(int descriptor, struct clinux_icmp_error *error) {
    _Alignas(struct cmsghdr) char control[512];
    char packet[64];
    struct iovec part = {packet, sizeof packet};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(descriptor, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return 0;
    for (struct cmsghdr *entry = CMSG_FIRSTHDR(&message); entry; entry = CMSG_NXTHDR(&message, entry)) {
        int is_ipv4 = entry->cmsg_level == IPPROTO_IP && entry->cmsg_type == IP_RECVERR;
        int is_ipv6 = entry->cmsg_level == IPPROTO_IPV6 && entry->cmsg_type == IPV6_RECVERR;
        size_t size = sizeof(struct sock_extended_err) +
                      (is_ipv6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
        if ((!is_ipv4 && !is_ipv6) || entry->cmsg_len < CMSG_LEN(size)) continue;
        struct sock_extended_err *reported = (struct sock_extended_err *)CMSG_DATA(entry);
        if (reported->ee_origin != SO_EE_ORIGIN_ICMP && reported->ee_origin != SO_EE_ORIGIN_ICMP6) continue;
        struct sockaddr *sender = SO_EE_OFFENDER(reported);
        memset(error, 0, sizeof *error);
        error->type = reported->ee_type;
        error->code = reported->ee_code;
        error->family = (uint8_t)sender->sa_family;
        if (sender->sa_family == AF_INET) {
            memcpy(error->sender, &((struct sockaddr_in *)sender)->sin_addr, 4);
        } else if (sender->sa_family == AF_INET6) {
            memcpy(error->sender, &((struct sockaddr_in6 *)sender)->sin6_addr, 16);
        } else {
            continue;
        }
        return 1;
    }
    return 0;
}

__thread const int64_t *clinux_moved_time __attribute__((tls_model("initial-exec")));

void clinux_set_moved_time(const int64_t *time) { clinux_moved_time = time; }
