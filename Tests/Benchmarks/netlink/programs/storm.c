// Changes the kernel's tables as fast as the kernel takes them.
//   storm routes  COUNT DEVICE GATEWAY                 adds COUNT routes of 10.0.0.0/8, then deletes them
//   storm fill    COUNT DEVICE GATEWAY                 adds them and leaves them there
//   storm replace COUNT DEVICE GATEWAY DEVICE GATEWAY  replaces the default route by each in turn
//   storm flap    COUNT DEVICE GATEWAY                 sets the link down and up, with its default route
// Prints "changes=N seconds=S". Routes go 64 to a send(): the kernel is the limit, not the system calls.
#include "clock.h"
#include "message.h"
#include <arpa/inet.h>

enum { batch = 64, prefix = 28, most = 1 << 20 };
static int fd;
static uint32_t sequence = 1;

static void routes(long count, int type, int flags, unsigned device, uint32_t gateway) {
  static char buffer[batch * 96];
  for (long i = 0; i < count;) {
    size_t length = 0;
    struct nlmsghdr *last = 0;
    for (int k = 0; k < batch && i < count; k++, i++) {
      uint32_t destination = htonl(0x0a000000u + ((uint32_t)i << (32 - prefix)));
      last = (void *)(buffer + length);
      length += route_message(last, type, flags, ++sequence, destination, prefix, device, gateway);
    }
    last->nlmsg_flags |= NLM_F_ACK;
    send_message(fd, buffer, length);
    await_answer(fd, sequence);
  }
}

static void default_route(int flags, unsigned device, uint32_t gateway) {
  char message[96];
  size_t length = route_message(message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_ACK | flags, ++sequence, 0, 0, device, gateway);
  send_message(fd, message, length);
  await_answer(fd, sequence);
}

static void set_link(unsigned device, int up) {
  char message[64];
  send_message(fd, message, link_message(message, ++sequence, device, up));
  await_answer(fd, sequence);
}

int main(int arguments, char **argument) {
  if (arguments < 5) return fprintf(stderr, "usage: see the head of storm.c\n"), 64;
  const char *kind = argument[1];
  long count = atol(argument[2]), changes = count;
  unsigned device = device_index(argument[3]);
  uint32_t gateway = inet_addr(argument[4]);
  fd = netlink_open();
  uint64_t start = now_ns();
  if (count > most) return fprintf(stderr, "at most %d routes\n", most), 64;
  if (!strcmp(kind, "fill")) {
    routes(count, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, device, gateway);
  } else if (!strcmp(kind, "routes")) {
    routes(count, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, device, gateway);
    routes(count, RTM_DELROUTE, 0, device, gateway);
    changes = 2 * count;
  } else if (!strcmp(kind, "replace") && arguments > 6) {
    unsigned devices[] = {device, device_index(argument[5])};
    uint32_t gateways[] = {gateway, inet_addr(argument[6])};
    for (long i = 0; i < count; i++) default_route(NLM_F_REPLACE, devices[i & 1], gateways[i & 1]);
  } else if (!strcmp(kind, "flap")) {
    for (long i = 0; i < count; i++) {
      set_link(device, 0);
      set_link(device, 1);
      default_route(NLM_F_REPLACE, device, gateway);
    }
    changes = 3 * count;
  } else {
    return fprintf(stderr, "usage: see the head of storm.c\n"), 64;
  }
  printf("changes=%ld seconds=%.4f\n", changes, (double)(now_ns() - start) / 1e9);
}
