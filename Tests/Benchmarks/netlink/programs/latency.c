// From a change in the kernel to the first byte of a monitor's line about it; the monitor's output is
// standard input.
//   latency route   COUNT QUIET DEVICE GATEWAY                 the default route: added, deleted, added, ...
//   latency replace COUNT QUIET DEVICE GATEWAY DEVICE GATEWAY  the default route: moved over and back
//   latency link    COUNT QUIET DEVICE GATEWAY                 the link: set down; up again is not timed
//   latency cable   COUNT QUIET FAR-INDEX NAMESPACE            the far end of a pair: set down and up
// The clock starts before send() and stops when the first byte can be read. The next change comes when the
// monitor has been silent for QUIET ms, so that what a monitor says late about one change is never taken for
// the next. A change without a line within 2 s is a miss, and five misses end the run. Prints "WHAT
// MICROSECONDS" a change, "miss WHAT" a miss.
#include "clock.h"
#include "message.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>

static int fd, quiet, misses;
static uint32_t sequence = 1;

// Reads what there is until nothing comes for `ms`; the end of the monitor ends the run.
static void drain(int ms) {
  static char buffer[65536];
  struct pollfd input = {0, POLLIN, 0};
  while (poll(&input, 1, ms) > 0)
    if (read(0, buffer, sizeof buffer) <= 0) exit(0);
}

static void timed(const char *what, const void *message, size_t length) {
  uint64_t start = now_ns();
  send_message(fd, message, length);
  await_answer(fd, sequence);
  struct pollfd input = {0, POLLIN, 0};
  if (poll(&input, 1, 2000) > 0) {
    printf("%s %.1f\n", what, (double)(now_ns() - start) / 1e3);
  } else {
    printf("miss %s\n", what);
    if (++misses == 5) exit(0);
  }
  drain(quiet);
}

static void untimed(const void *message, size_t length) {
  send_message(fd, message, length);
  await_answer(fd, sequence);
  drain(quiet);
}

// A socket that speaks to another network namespace: it stays there, whatever its process does later.
static int netlink_open_in(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "/run/netns/%s", name);
  int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), there = open(path, O_RDONLY | O_CLOEXEC);
  if (there < 0 || setns(there, CLONE_NEWNET) < 0) give_up(path);
  int socket = netlink_open();
  if (setns(here, CLONE_NEWNET) < 0) give_up("setns");
  return socket;
}

int main(int arguments, char **argument) {
  if (arguments < 6) return fprintf(stderr, "usage: see the head of latency.c\n"), 64;
  const char *kind = argument[1];
  long count = atol(argument[2]);
  char m[96];
  enum { add = NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK };
  quiet = atoi(argument[3]);
  setvbuf(stdout, 0, _IOFBF, 1 << 16);
  if (!strcmp(kind, "cable")) {
    fd = netlink_open_in(argument[5]);
    unsigned far = (unsigned)atoi(argument[4]);
    drain(500);
    for (long i = 0; i < count; i++) timed(i & 1 ? "plugged" : "unplugged", m, link_message(m, ++sequence, far, i & 1));
    return 0;
  }
  unsigned device = device_index(argument[4]);
  uint32_t gateway = inet_addr(argument[5]);
  unsigned other = arguments > 7 ? device_index(argument[6]) : 0;
  uint32_t other_gateway = arguments > 7 ? inet_addr(argument[7]) : 0;
  fd = netlink_open();
  drain(500);
  for (long i = 0; i < count; i++) {
    if (!strcmp(kind, "route")) {
      int type = i & 1 ? RTM_DELROUTE : RTM_NEWROUTE;
      timed(i & 1 ? "deleted" : "added", m, route_message(m, type, i & 1 ? NLM_F_ACK : add, ++sequence, 0, 0, device, gateway));
    } else if (!strcmp(kind, "replace") && other) {
      unsigned to = i & 1 ? device : other;
      timed("moved", m, route_message(m, RTM_NEWROUTE, add, ++sequence, 0, 0, to, i & 1 ? gateway : other_gateway));
    } else if (!strcmp(kind, "link")) {
      timed("down", m, link_message(m, ++sequence, device, 0));
      untimed(m, link_message(m, ++sequence, device, 1));
      untimed(m, route_message(m, RTM_NEWROUTE, add, ++sequence, 0, 0, device, gateway));
    } else {
      return fprintf(stderr, "usage: see the head of latency.c\n"), 64;
    }
  }
}
