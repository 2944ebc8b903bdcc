/* SPDX-License-Identifier: Apache-2.0 */
#include "netlink.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct request {
    struct nlmsghdr head;
    union {
        struct rtmsg route;
        struct ifinfomsg link;
    } of;
    /* The attribute with the address: its header, and 16 bytes. */
    char attributes[sizeof(struct rtattr) + 16];
};

int netlink_open(void)
{
    struct timeval patience = {.tv_sec = 1};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

/* Sends a request and receives the message that answers it: its length, or -1 with errno. */
static ssize_t ask(int fd, const struct request *request, void *reply, size_t size)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    if (sendto(fd, request, request->head.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0)
        return -1;
    for (;;) {
        struct sockaddr_nl sender = {0};
        socklen_t length = sizeof sender;
        ssize_t count = recvfrom(fd, reply, size, MSG_TRUNC, (struct sockaddr *)&sender, &length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            if (errno == EAGAIN) errno = ETIMEDOUT;
            return -1;
        }
        const struct nlmsghdr *head = reply;
        /* Any process may send to the socket; the kernel's number is 0. */
        if (sender.nl_pid != 0 || (size_t)count < sizeof *head) continue;
        if (head->nlmsg_seq != request->head.nlmsg_seq) continue;
        if ((size_t)count > size || head->nlmsg_len > (size_t)count) {
            errno = EMSGSIZE;
            return -1;
        }
        return (ssize_t)head->nlmsg_len;
    }
}

/* The errno of a refusal; 0 if the reply is none. */
static int refusal(const void *reply, ssize_t length)
{
    const struct nlmsghdr *head = reply;
    if (head->nlmsg_type != NLMSG_ERROR) return 0;
    if ((size_t)length < NLMSG_LENGTH(sizeof(struct nlmsgerr))) return EPROTO;
    const struct nlmsgerr *error = NLMSG_DATA(head);
    return error->error ? -error->error : EPROTO;
}

/* The attributes of a message, one after the other; what does not fit into it ends them. */
struct attributes {
    const char *at;
    size_t left;
};

static const struct rtattr *next_attribute(struct attributes *attributes)
{
    const struct rtattr *attribute = (const struct rtattr *)attributes->at;
    if (attributes->left < sizeof *attribute) return NULL;
    if (attribute->rta_len < sizeof *attribute || attribute->rta_len > attributes->left) return NULL;
    size_t step = RTA_ALIGN((size_t)attribute->rta_len);
    if (step > attributes->left) step = attributes->left;
    attributes->at += step;
    attributes->left -= step;
    return attribute;
}

/* Those behind the head and the first struct of a message. */
static struct attributes attributes_of(const struct nlmsghdr *head, size_t size)
{
    size_t start = NLMSG_ALIGN(NLMSG_LENGTH(size));
    if (head->nlmsg_len <= start) return (struct attributes){0};
    return (struct attributes){(const char *)head + start, head->nlmsg_len - start};
}

static size_t copy_bounded(void *to, size_t size, const struct rtattr *attribute)
{
    size_t count = RTA_PAYLOAD(attribute);
    if (count > size) count = size;
    memcpy(to, RTA_DATA(attribute), count);
    return count;
}

static uint32_t number_of(const struct rtattr *attribute)
{
    uint32_t value = 0;
    copy_bounded(&value, sizeof value, attribute);
    return value;
}

static void read_route(const struct nlmsghdr *head, int family, struct kernel_route *route)
{
    const struct rtmsg *message = NLMSG_DATA(head);
    struct attributes attributes = attributes_of(head, sizeof *message);
    route->type = message->rtm_type;
    route->gateway_family = family;
    for (const struct rtattr *at; (at = next_attribute(&attributes)) != NULL;) {
        switch (at->rta_type) {
        case RTA_OIF: route->interface = (int)number_of(at); break;
        case RTA_PRIORITY: route->metric = number_of(at), route->has_metric = true; break;
        case RTA_PREFSRC: route->has_source = copy_bounded(route->source, 16, at) >= 4; break;
        case RTA_GATEWAY: route->has_gateway = copy_bounded(route->gateway, 16, at) >= 4; break;
        case RTA_VIA: {
            const struct rtvia *via = RTA_DATA(at);
            size_t count = RTA_PAYLOAD(at);
            if (count < sizeof *via + 4 || count > sizeof *via + 16) break;
            route->gateway_family = via->rtvia_family;
            memcpy(route->gateway, via->rtvia_addr, count - sizeof *via);
            route->has_gateway = true;
            break;
        }
        default: break;
        }
    }
}

bool netlink_route(int fd, int family, const void *address, struct kernel_route *route)
{
    size_t size = family == AF_INET ? 4 : 16;
    struct request request = {
        .head = {.nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = 1},
        .of.route = {.rtm_family = (unsigned char)family, .rtm_dst_len = (unsigned char)(size * 8)},
    };
    _Alignas(struct nlmsghdr) char reply[8192];
    char *message = (char *)&request;
    struct rtattr attribute = {.rta_type = RTA_DST, .rta_len = (unsigned short)RTA_LENGTH(size)};
    size_t start = NLMSG_LENGTH(sizeof request.of.route);
    memcpy(message + start, &attribute, sizeof attribute);
    memcpy(message + start + RTA_LENGTH(0), address, size);
    request.head.nlmsg_len = (uint32_t)(start + RTA_LENGTH(size));
    *route = (struct kernel_route){0};
    ssize_t length = ask(fd, &request, reply, sizeof reply);
    if (length < 0) return false;
    route->error = refusal(reply, length);
    if (!route->error && (size_t)length >= NLMSG_LENGTH(sizeof(struct rtmsg))) {
        read_route((const struct nlmsghdr *)reply, family, route);
    }
    return true;
}

static void copy_text(char *to, size_t size, const struct rtattr *attribute)
{
    to[copy_bounded(to, size - 1, attribute)] = 0;
}

static void read_info(const struct rtattr *info, struct kernel_link *link)
{
    struct attributes attributes = {RTA_DATA(info), RTA_PAYLOAD(info)};
    for (const struct rtattr *at; (at = next_attribute(&attributes)) != NULL;) {
        if (at->rta_type == IFLA_INFO_KIND) copy_text(link->kind, sizeof link->kind, at);
        if (at->rta_type == IFLA_INFO_SLAVE_KIND) copy_text(link->master_kind, sizeof link->master_kind, at);
    }
}

/*
 * cfg80211 has a link to the radio in sysfs, which may show another network namespace: the number has to
 * agree.
 */
static bool is_wifi(const struct kernel_link *link)
{
    char path[64 + IFNAMSIZ];
    int index = 0;
    /* A name has no slash (dev_valid_name(), net/core/dev.c). */
    snprintf(path, sizeof path, "/sys/class/net/%s/ifindex", link->name);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    if (fscanf(file, "%d", &index) != 1) index = 0;
    fclose(file);
    snprintf(path, sizeof path, "/sys/class/net/%s/phy80211", link->name);
    return index == link->index && access(path, F_OK) == 0;
}

bool netlink_link(int fd, int index, struct kernel_link *link)
{
    struct request request = {
        .head = {.nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = 2},
        .of.link = {.ifi_family = AF_UNSPEC, .ifi_index = index},
    };
    request.head.nlmsg_len = (uint32_t)NLMSG_LENGTH(sizeof request.of.link);
    _Alignas(struct nlmsghdr) char reply[32768];
    ssize_t length = ask(fd, &request, reply, sizeof reply);
    if (length < 0) return false;
    const struct nlmsghdr *head = (const struct nlmsghdr *)reply;
    int error = refusal(reply, length);
    if (error || (size_t)length < NLMSG_LENGTH(sizeof(struct ifinfomsg))) {
        errno = error ? error : EPROTO;
        return false;
    }
    const struct ifinfomsg *message = NLMSG_DATA(head);
    struct attributes attributes = attributes_of(head, sizeof *message);
    *link = (struct kernel_link){
        .index = message->ifi_index, .flags = message->ifi_flags, .hardware = message->ifi_type};
    for (const struct rtattr *at; (at = next_attribute(&attributes)) != NULL;) {
        switch (at->rta_type & NLA_TYPE_MASK) {
        case IFLA_IFNAME: copy_text(link->name, sizeof link->name, at); break;
        case IFLA_OPERSTATE: copy_bounded(&link->state, 1, at); break;
        case IFLA_LINKINFO: read_info(at, link); break;
        default: break;
        }
    }
    link->is_wifi = is_wifi(link);
    return true;
}
