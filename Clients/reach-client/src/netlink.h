/* SPDX-License-Identifier: Apache-2.0 */
/* Single questions to the kernel by rtnetlink(7): which route an address gets, and how a link is. */
#ifndef REACH_NETLINK_H
#define REACH_NETLINK_H

#include <linux/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct kernel_route {
    /* 0, or the errno that the kernel refuses the address with. */
    int error;
    /* RTN_UNICAST and so on. */
    unsigned char type;
    int interface;
    bool has_source, has_gateway, has_metric;
    /* Of the family that was asked for. */
    unsigned char source[16], gateway[16];
    /* A gateway of the other family (RTA_VIA). */
    int gateway_family;
    uint32_t metric;
};

struct kernel_link {
    char name[IFNAMSIZ];
    int index;
    /* IFF_UP and so on. */
    unsigned flags;
    /* ARPHRD_ETHER and so on. */
    unsigned short hardware;
    /* IF_OPER_UP and so on. */
    unsigned char state;
    /* The driver's kind (IFLA_INFO_KIND), and that of the link that it is a port of; empty without. */
    char kind[24], master_kind[24];
    bool is_wifi;
};

/* A socket for the questions; -1 with errno. */
int netlink_open(void);
/* Asks for the route to an address; false with errno if the kernel cannot be asked. */
bool netlink_route(int fd, int family, const void *address, struct kernel_route *route);
/* Asks for a link; false with errno, ENODEV if it is gone. */
bool netlink_link(int fd, int index, struct kernel_link *link);

#endif
