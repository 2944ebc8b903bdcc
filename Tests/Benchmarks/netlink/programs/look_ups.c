// The least that a monitor costs which asks the kernel for the truth: reads each burst of reports to its end,
// asks for the routes that traffic takes, and prints a line where the answer has changed.
//   look_ups
// Asks the questions of `reach watch`: the route of an IPv4 address and its entry in the table, the route of
// an IPv6 address; a second address if the first has no route; then the way out of each other link.
// A line is a JSON object: online, the interface, its gateway and its source, and of each link whether it is
// up and has a route. Ends at SIGTERM.
#include "events.h"
#include <arpa/inet.h>

enum { LINKS = 64 };

struct link {
  int index, up;
  char name[IF_NAMESIZE];
};

struct route {
  int found, device;
  char gateway[INET_ADDRSTRLEN], source[INET_ADDRSTRLEN];
};

static struct link links[LINKS];
static int known, asking;
static uint32_t sequence;

static void heard(struct nlmsghdr *h) {
  if (h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK) return;
  struct ifinfomsg *i = NLMSG_DATA(h);
  int place = 0, length = (int)IFLA_PAYLOAD(h);
  while (place < known && links[place].index != i->ifi_index) place++;
  if (h->nlmsg_type == RTM_DELLINK) {
    if (place < known) links[place] = links[--known];
    return;
  }
  if (place == LINKS || i->ifi_flags & IFF_LOOPBACK) return;
  if (place == known) known++;
  struct link *l = &links[place];
  l->index = i->ifi_index;
  l->up = (i->ifi_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
  for (struct rtattr *a = IFLA_RTA(i); RTA_OK(a, length); a = RTA_NEXT(a, length))
    if (a->rta_type == IFLA_IFNAME) strncpy(l->name, RTA_DATA(a), IF_NAMESIZE - 1);
}

// Writes a look-up behind those that are in `at`; its length is returned.
static size_t question(void *at, int family, const void *address, unsigned flags, int device) {
  struct nlmsghdr *h = at;
  size_t length = family == AF_INET ? 4 : 16;
  memset(at, 0, NLMSG_LENGTH(sizeof(struct rtmsg)));
  *h = (struct nlmsghdr){NLMSG_LENGTH(sizeof(struct rtmsg)), RTM_GETROUTE, NLM_F_REQUEST, ++sequence, 0};
  struct rtmsg *r = NLMSG_DATA(h);
  r->rtm_family = (unsigned char)family;
  r->rtm_dst_len = (unsigned char)(length * 8);
  r->rtm_flags = flags;
  add_attribute(h, RTA_DST, address, length);
  if (device) add_attribute(h, RTA_OIF, &device, 4);
  return NLMSG_ALIGN(h->nlmsg_len);
}

static void answer(struct route *to) {
  static char buffer[32768];
  ssize_t n = recv(asking, buffer, sizeof buffer, 0);
  struct nlmsghdr *h = (void *)buffer;
  *to = (struct route){0};
  if (n < 0 || !NLMSG_OK(h, n)) give_up("receive an answer");
  if (h->nlmsg_type != RTM_NEWROUTE) return;
  struct rtmsg *r = NLMSG_DATA(h);
  int length = (int)RTM_PAYLOAD(h);
  to->found = r->rtm_type == RTN_UNICAST;
  for (struct rtattr *a = RTM_RTA(r); RTA_OK(a, length); a = RTA_NEXT(a, length)) {
    if (a->rta_type == RTA_OIF) to->device = *(int *)RTA_DATA(a);
    if (r->rtm_family != AF_INET) continue;
    if (a->rta_type == RTA_GATEWAY) inet_ntop(AF_INET, RTA_DATA(a), to->gateway, INET_ADDRSTRLEN);
    if (a->rta_type == RTA_PREFSRC) inet_ntop(AF_INET, RTA_DATA(a), to->source, INET_ADDRSTRLEN);
  }
}

// The route of traffic to everywhere, and of each link whether it has one; asked in up to three rounds.
static void look_up(struct route *path, struct route through[]) {
  static char questions[128 * 2 * LINKS];
  uint32_t first = inet_addr("12.0.0.1"), second = inet_addr("193.0.14.129");
  struct in6_addr six;
  struct route entry, other;
  inet_pton(AF_INET6, "2001:7fd::1", &six);
  size_t n = question(questions, AF_INET, &first, RTM_F_LOOKUP_TABLE, 0);
  n += question(questions + n, AF_INET, &first, RTM_F_LOOKUP_TABLE | RTM_F_FIB_MATCH, 0);
  n += question(questions + n, AF_INET6, &six, 0, 0);
  send_message(asking, questions, n);
  answer(path), answer(&entry), answer(&other);
  if (!path->found) {
    n = question(questions, AF_INET, &second, RTM_F_LOOKUP_TABLE, 0);
    n += question(questions + n, AF_INET, &second, RTM_F_LOOKUP_TABLE | RTM_F_FIB_MATCH, 0);
    send_message(asking, questions, n);
    answer(path), answer(&entry);
  }
  n = 0;
  for (int i = 0; i < known; i++) {
    if (!links[i].up || (path->found && links[i].index == path->device)) continue;
    n += question(questions + n, AF_INET, &first, RTM_F_LOOKUP_TABLE | RTM_F_FIB_MATCH, links[i].index);
    n += question(questions + n, AF_INET, path->found ? &first : &second,
                  RTM_F_LOOKUP_TABLE | (path->found ? 0 : RTM_F_FIB_MATCH), links[i].index);
  }
  if (n) send_message(asking, questions, n);
  for (int i = 0; i < known; i++) {
    through[i] = (struct route){0};
    if (path->found && links[i].index == path->device) through[i] = *path;
    else if (links[i].up) answer(&through[i]), answer(&other);
  }
}

static void report(void) {
  static char last[8192];
  char text[sizeof last];
  struct route path, through[LINKS];
  look_up(&path, through);
  const char *name = "";
  for (int i = 0; i < known; i++)
    if (path.found && links[i].index == path.device) name = links[i].name;
  int n = snprintf(text, sizeof text, "{\"online\":%s,\"interface\":\"%s\",\"gateway\":\"%s\",\"source\":\"%s\",\"links\":[",
                   path.found ? "true" : "false", name, path.gateway, path.source);
  for (int i = 0; i < known; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%s{\"name\":\"%s\",\"up\":%s,\"route\":%s}", i ? "," : "", links[i].name,
                  links[i].up ? "true" : "false", through[i].found ? "true" : "false");
  n += snprintf(text + n, sizeof text - (size_t)n, "]}\n");
  if (!strcmp(text, last)) return;
  memcpy(last, text, (size_t)n + 1);
  if (write(1, text, (size_t)n) < 0) give_up("write");
}

int main(void) {
  static char buffer[65536];
  int fd = netlink_open();
  asking = netlink_open();
  join_groups(fd);
  dump(RTM_GETLINK, heard);
  report();
  for (;;) {
    for (int wait = 0;; wait = MSG_DONTWAIT) {
      ssize_t n = recv(fd, buffer, sizeof buffer, wait);
      if (n < 0 && errno == EAGAIN) break;
      if (n < 0 && errno != ENOBUFS && errno != EINTR) give_up("receive");
      for (struct nlmsghdr *h = (void *)buffer; n > 0 && NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) heard(h);
    }
    report();
  }
}
