// The kernel's reports of links, addresses and routes: the groups, and all objects of a kind.
#pragma once
#include "message.h"

static inline void join_groups(int fd) {
  int groups[] = {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE};
  for (unsigned i = 0; i < sizeof groups / sizeof *groups; i++)
    if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i], sizeof groups[i]) < 0) give_up("join a group");
}

// All objects of `type` (RTM_GETLINK, RTM_GETADDR); `each` gets every message, 0 for none.
static inline void dump(int type, void (*each)(struct nlmsghdr *)) {
  static char buffer[65536];
  struct {
    struct nlmsghdr h;
    struct ifinfomsg i;
  } q = {{sizeof q, (unsigned short)type, NLM_F_REQUEST | NLM_F_DUMP, 1, 0}, {0}};
  int fd = netlink_open();
  send_message(fd, &q, sizeof q);
  for (;;) {
    ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n < 0) give_up("dump");
    for (struct nlmsghdr *h = (void *)buffer; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
      if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR) {
        close(fd);
        return;
      }
      if (each) each(h);
    }
  }
}
