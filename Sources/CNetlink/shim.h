// SPDX-License-Identifier: Apache-2.0
// libnl-3, libnl-route-3 and the kernel's netlink headers, with wrappers for what Swift does not import.
#pragma once
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/filter.h>
#include <linux/genetlink.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/netconf.h>
#include <linux/netlink.h>
#include <linux/nexthop.h>
#include <linux/nl80211.h>
#include <linux/rtnetlink.h>
#include <linux/wireless.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/route/link.h>
#include <netlink/route/route.h>
#include <netlink/route/rtnl.h>
#include <netlink/socket.h>
#include <netlink/utils.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/// Receives one datagram with its sender; MSG_TRUNC returns the true length of a truncated one.
/// Returns the length or a negative errno; `port` is the sender's nl_pid, `groups` its multicast groups.
static inline ssize_t cnetlink_receive(int descriptor, void *buffer, size_t size, uint32_t *port,
                                       uint32_t *groups) {
    struct sockaddr_nl sender = {0};
    socklen_t length = sizeof sender;
    ssize_t received = recvfrom(descriptor, buffer, size, MSG_TRUNC, (struct sockaddr *)&sender, &length);
    *port = sender.nl_pid;
    *groups = sender.nl_groups;
    return received < 0 ? -(ssize_t)errno : received;
}

/// Replaces the classic filter. Returns 0 or a negative errno.
static inline int cnetlink_attach_filter(int descriptor, const struct sock_filter *instructions,
                                         unsigned short count) {
    struct sock_fprog program = {.len = count, .filter = (struct sock_filter *)instructions};
    return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0 ? -errno : 0;
}

/// Sets an option whose value is an integer. Returns 0 or a negative errno.
static inline int cnetlink_set_option(int descriptor, int level, int option, int value) {
    return setsockopt(descriptor, level, option, &value, sizeof value) < 0 ? -errno : 0;
}

/// Limits the wait of a receive (SO_RCVTIMEO, socket(7)). Returns 0 or a negative errno.
static inline int cnetlink_set_timeout(int descriptor, int64_t microseconds) {
    struct timeval time = {.tv_sec = microseconds / 1000000, .tv_usec = microseconds % 1000000};
    return setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) < 0 ? -errno : 0;
}

/// Whether the wireless extensions know the interface (SIOCGIWNAME, linux/wireless.h): 1 or 0.
static inline int cnetlink_answers_wext(int descriptor, const char *name) {
    struct iwreq request;
    memset(&request, 0, sizeof request);
    strncpy(request.ifr_ifrn.ifrn_name, name, IFNAMSIZ - 1);
    return ioctl(descriptor, SIOCGIWNAME, &request) == 0;
}

// Macros with an expression, which Swift does not import.
enum {
    CNETLINK_SOL_NETLINK = 270,
    CNETLINK_SKF_AD_NLATTR = SKF_AD_OFF + SKF_AD_NLATTR,
    CNETLINK_GENL_ID_CTRL = GENL_ID_CTRL,
};
