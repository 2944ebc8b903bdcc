// Route netlink without a library: sockets, messages with attributes, and the kernel's answer to them.
#pragma once
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

static inline void give_up(const char *what) {
  perror(what);
  exit(1);
}

static inline int netlink_open(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) give_up("socket(AF_NETLINK)");
  struct sockaddr_nl address = {.nl_family = AF_NETLINK};
  if (bind(fd, (void *)&address, sizeof address) < 0) give_up("bind");
  return fd;
}

static inline void add_attribute(struct nlmsghdr *h, unsigned short type, const void *data, size_t length) {
  struct rtattr *a = (void *)((char *)h + NLMSG_ALIGN(h->nlmsg_len));
  a->rta_type = type;
  a->rta_len = (unsigned short)RTA_LENGTH(length);
  memcpy(RTA_DATA(a), data, length);
  h->nlmsg_len = NLMSG_ALIGN(h->nlmsg_len) + RTA_ALIGN(a->rta_len);
}

// A route of table main towards `gateway`; a prefix length of 0 makes it the default route. Returns its
// length.
static inline size_t route_message(void *at, int type, int flags, uint32_t sequence, uint32_t destination, int prefix,
                                   unsigned device, uint32_t gateway) {
  struct nlmsghdr *h = at;
  memset(at, 0, NLMSG_LENGTH(sizeof(struct rtmsg)));
  h->nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg));
  h->nlmsg_type = (unsigned short)type;
  h->nlmsg_flags = (unsigned short)(NLM_F_REQUEST | flags);
  h->nlmsg_seq = sequence;
  struct rtmsg *r = NLMSG_DATA(h);
  r->rtm_family = AF_INET;
  r->rtm_dst_len = (unsigned char)prefix;
  r->rtm_table = RT_TABLE_MAIN;
  r->rtm_protocol = RTPROT_STATIC;
  r->rtm_type = RTN_UNICAST;
  if (prefix) add_attribute(h, RTA_DST, &destination, 4);
  add_attribute(h, RTA_OIF, &device, 4);
  add_attribute(h, RTA_GATEWAY, &gateway, 4);
  return NLMSG_ALIGN(h->nlmsg_len);
}

static inline size_t link_message(void *at, uint32_t sequence, unsigned device, int up) {
  struct {
    struct nlmsghdr h;
    struct ifinfomsg i;
  } m = {{sizeof m, RTM_SETLINK, NLM_F_REQUEST | NLM_F_ACK, sequence, 0},
         {.ifi_index = (int)device, .ifi_flags = up ? IFF_UP : 0, .ifi_change = IFF_UP}};
  memcpy(at, &m, sizeof m);
  return sizeof m;
}

static inline void send_message(int fd, const void *message, size_t length) {
  if (send(fd, message, length, 0) < 0) give_up("send to the kernel");
}

// Waits for the kernel's answer to `sequence` and ends the program when the kernel refused it.
static inline void await_answer(int fd, uint32_t sequence) {
  static char buffer[65536];
  for (;;) {
    ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n < 0 && (errno == EINTR || errno == ENOBUFS)) continue;
    if (n < 0) give_up("receive from the kernel");
    for (struct nlmsghdr *h = (void *)buffer; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
      if (h->nlmsg_type != NLMSG_ERROR) continue;
      struct nlmsgerr *e = NLMSG_DATA(h);
      if (e->error) errno = -e->error, give_up("the kernel refused a change");
      if (h->nlmsg_seq == sequence) return;
    }
  }
}

static inline unsigned device_index(const char *name) {
  unsigned index = if_nametoindex(name);
  if (!index) give_up(name);
  return index;
}
