// The reference: the least that C can do. One socket on the link, address and route groups, a blocking
// recv(), a walk over the message headers, and one line for every link, address or default route message.
//   receive_loop [--filter]      --filter: with the socket filter of filter.h
// First line: "ready GATEWAY|-", after the links, the addresses and the default route have been asked for.
// Then "default GATEWAY DEVICE", "gone GATEWAY DEVICE", "link INDEX up|down", "address INDEX".
// Ends at SIGTERM.
#include "events.h"
#include "filter.h"

static void line(const char *format, const char *word, unsigned number) {
  char out[64];
  int n = snprintf(out, sizeof out, format, word, number);
  if (write(1, out, (size_t)n) < 0) give_up("write");
}

// The gateway of an IPv4 route message and its device; "-" when it has none.
static const char *gateway_of(struct nlmsghdr *h, unsigned *device) {
  static char text[INET_ADDRSTRLEN];
  struct rtmsg *r = NLMSG_DATA(h);
  int length = (int)RTM_PAYLOAD(h);
  strcpy(text, "-");
  for (struct rtattr *a = RTM_RTA(r); RTA_OK(a, length); a = RTA_NEXT(a, length)) {
    if (a->rta_type == RTA_GATEWAY && r->rtm_family == AF_INET) inet_ntop(AF_INET, RTA_DATA(a), text, sizeof text);
    if (a->rta_type == RTA_OIF) *device = *(unsigned *)RTA_DATA(a);
  }
  return text;
}

static void walk(char *buffer, ssize_t n) {
  for (struct nlmsghdr *h = (void *)buffer; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
    unsigned device = 0;
    switch (h->nlmsg_type) {
    case RTM_NEWROUTE:
    case RTM_DELROUTE: {
      struct rtmsg *r = NLMSG_DATA(h);
      if (r->rtm_dst_len || r->rtm_type != RTN_UNICAST) break;
      const char *gateway = gateway_of(h, &device);
      line(h->nlmsg_type == RTM_NEWROUTE ? "default %s %u\n" : "gone %s %u\n", gateway, device);
      break;
    }
    case RTM_NEWLINK:
    case RTM_DELLINK: {
      struct ifinfomsg *i = NLMSG_DATA(h);
      unsigned usable = IFF_UP | IFF_RUNNING;
      line("link %2$u %1$s\n", (i->ifi_flags & usable) == usable ? "up" : "down", (unsigned)i->ifi_index);
      break;
    }
    case RTM_NEWADDR:
    case RTM_DELADDR:
      line("%saddress %u\n", "", ((struct ifaddrmsg *)NLMSG_DATA(h))->ifa_index);
    }
  }
}

// The route of an address without a route of its own: found by a lookup, however big the table is.
static const char *default_gateway(void) {
  static char buffer[8192];
  uint32_t somewhere = inet_addr("240.0.0.1");
  struct {
    struct nlmsghdr h;
    struct rtmsg r;
    char room[64];
  } q = {{NLMSG_LENGTH(sizeof(struct rtmsg)), RTM_GETROUTE, NLM_F_REQUEST, 1, 0},
         {.rtm_family = AF_INET, .rtm_dst_len = 32, .rtm_flags = RTM_F_FIB_MATCH},
         {0}};
  add_attribute(&q.h, RTA_DST, &somewhere, 4);
  int fd = netlink_open();
  send_message(fd, &q, q.h.nlmsg_len);
  ssize_t n = recv(fd, buffer, sizeof buffer, 0);
  close(fd);
  struct nlmsghdr *h = (void *)buffer;
  unsigned device;
  return NLMSG_OK(h, n) && h->nlmsg_type == RTM_NEWROUTE ? gateway_of(h, &device) : "-";
}

int main(int count, char **arguments) {
  int filter = count > 1 && !strcmp(arguments[1], "--filter");
  int fd = netlink_open();
  if (filter && attach_default_routes_only(fd) < 0) give_up("SO_ATTACH_FILTER");
  join_groups(fd);
  dump(RTM_GETLINK, 0);
  dump(RTM_GETADDR, 0);
  line("ready %s\n", default_gateway(), 0);
  static char buffer[65536];
  for (;;) {
    ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n > 0) walk(buffer, n);
    else if (errno != ENOBUFS && errno != EINTR) give_up("receive");
  }
}
