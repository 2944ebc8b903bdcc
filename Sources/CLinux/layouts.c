// SPDX-License-Identifier: Apache-2.0
// The layouts of kernel structures that Swift code reads and writes by offsets, compared with the kernel's
// headers for the machine that is compiled for. No code comes of this file.
#include <netinet/in.h>
#include <time.h>
// Needs timespec of the line before.
#include <linux/errqueue.h>
#include <linux/fib_rules.h>
#include <linux/filter.h>
#include <linux/genetlink.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/netlink.h>
#include <linux/nexthop.h>
#include <linux/nl80211.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/un.h>

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " has another size here")
#define OFFSET(type, member, offset)                                                                         \
    _Static_assert(offsetof(type, member) == (offset), #member " of " #type " has another offset here")

// NetlinkLayout (Reachability/Netlink/Messages), and the offsets of the messages' decoders.
SIZE(struct nlmsghdr, 16);
OFFSET(struct nlmsghdr, nlmsg_type, 4);
OFFSET(struct nlmsghdr, nlmsg_flags, 6);
OFFSET(struct nlmsghdr, nlmsg_seq, 8);
OFFSET(struct nlmsghdr, nlmsg_pid, 12);
SIZE(struct nlattr, 4);
SIZE(struct rtattr, 4);
SIZE(struct ifinfomsg, 16);
OFFSET(struct ifinfomsg, ifi_type, 2);
OFFSET(struct ifinfomsg, ifi_index, 4);
OFFSET(struct ifinfomsg, ifi_flags, 8);
SIZE(struct ifaddrmsg, 8);
OFFSET(struct ifaddrmsg, ifa_prefixlen, 1);
OFFSET(struct ifaddrmsg, ifa_flags, 2);
OFFSET(struct ifaddrmsg, ifa_index, 4);
SIZE(struct rtmsg, 12);
OFFSET(struct rtmsg, rtm_dst_len, 1);
OFFSET(struct rtmsg, rtm_table, 4);
OFFSET(struct rtmsg, rtm_type, 7);
OFFSET(struct rtmsg, rtm_flags, 8);
SIZE(struct fib_rule_hdr, 12);
SIZE(struct ndmsg, 12);
OFFSET(struct ndmsg, ndm_ifindex, 4);
OFFSET(struct ndmsg, ndm_state, 8);
OFFSET(struct ndmsg, ndm_flags, 10);
SIZE(struct nhmsg, 8);
SIZE(struct rtnexthop, 8);
OFFSET(struct rtnexthop, rtnh_flags, 2);
OFFSET(struct rtnexthop, rtnh_ifindex, 4);
SIZE(struct netconfmsg, 1);
SIZE(struct genlmsghdr, 4);
SIZE(struct sockaddr_nl, 12);
SIZE(struct sock_filter, 8);
SIZE(struct nl80211_sta_flag_update, 8);

// TCPConnection (SessionManager/Path): members that the structure of libc lacks.
OFFSET(struct tcp_info, tcpi_bytes_acked, 120);
OFFSET(struct tcp_info, tcpi_delivered, 192);

// ICMP errors (clinux_next_icmp_error), and addresses of sockets.
SIZE(struct sock_extended_err, 16);
SIZE(struct sockaddr_in, 16);
SIZE(struct sockaddr_in6, 28);
OFFSET(struct sockaddr_un, sun_path, 2);
SIZE(struct sockaddr_un, 110);

// ConnectionProbe (reach/Diagnosis): SIOCGIFMTU writes behind the name, into 64 bytes.
OFFSET(struct ifreq, ifr_ifru, 16);
_Static_assert(sizeof(struct ifreq) <= 64, "struct ifreq is longer than the buffer for it");

// What is read from descriptors in whole structures.
SIZE(struct signalfd_siginfo, 128);
_Static_assert(sizeof(uint64_t) == 8 && sizeof(epoll_data_t) == 8, "a tag of epoll has 64 bits");
