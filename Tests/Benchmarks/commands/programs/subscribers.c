// SPDX-License-Identifier: Apache-2.0
// Follows the service by many connections, and times a change of the default route until the last one can be read.
//   subscribers SOCKET CONNECTIONS CHANGES DEVICE GATEWAY
// The clock starts before send(). The next change comes when all connections have been silent for 20 ms; a change that one of them
// is not told within 2 s ends the run.
// Prints the microseconds of each change.
#include "../../netlink/programs/clock.h"
#include "../../netlink/programs/message.h"
#include <arpa/inet.h>
#include <poll.h>
#include <sys/un.h>

enum { most = 1024, silence = 20 };
static struct pollfd sockets[most];
static int count;

static int subscribe(const char *path) {
  static const char call[] = "{\"method\":\"io.reach.Reachability.Monitor\",\"more\":true}";
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (void *)&address, sizeof address) < 0) give_up(path);
  // The NUL that ends the call too.
  if (write(fd, call, sizeof call) != (ssize_t)sizeof call) give_up("write");
  return fd;
}

// Reads until each connection has had something, or `ms` have passed without anything; how many have had something.
static int read_all(int until_all, int ms) {
  static char buffer[65536], had[most];
  int told = 0;
  memset(had, 0, sizeof had);
  while (!until_all || told < count) {
    int ready = poll(sockets, (nfds_t)count, ms);
    if (ready <= 0) break;
    for (int i = 0; i < count; i++) {
      if (!(sockets[i].revents & POLLIN)) continue;
      if (read(sockets[i].fd, buffer, sizeof buffer) <= 0) give_up("the service has ended");
      if (!had[i]) had[i] = 1, told++;
    }
  }
  return told;
}

int main(int arguments, char **argument) {
  if (arguments < 6) return fprintf(stderr, "usage: see the head of subscribers.c\n"), 64;
  count = atoi(argument[2]);
  if (count < 1 || count > most) return fprintf(stderr, "1 to %d connections\n", most), 64;
  for (int i = 0; i < count; i++) sockets[i] = (struct pollfd){subscribe(argument[1]), POLLIN, 0};
  if (read_all(1, 5000) < count) return fprintf(stderr, "no first line\n"), 1;
  unsigned device = device_index(argument[4]);
  uint32_t gateway = inet_addr(argument[5]), sequence = 0;
  int fd = netlink_open();
  char m[96];
  enum { add = NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK };
  read_all(0, 500);
  // An even number, so that the next run begins without a default route too.
  for (long i = 0; i < (atol(argument[3]) + 1) / 2 * 2; i++) {
    int type = i & 1 ? RTM_DELROUTE : RTM_NEWROUTE;
    size_t length = route_message(m, type, i & 1 ? NLM_F_ACK : add, ++sequence, 0, 0, device, gateway);
    uint64_t start = now_ns();
    send_message(fd, m, length);
    await_answer(fd, sequence);
    if (read_all(1, 2000) < count) return fprintf(stderr, "a change was not told\n"), 1;
    printf("%.1f\n", (double)(now_ns() - start) / 1e3);
    read_all(0, silence);
  }
}
