/* SPDX-License-Identifier: Apache-2.0 */
/* The status by two route lookups and the state of their links, without the service. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json-write.h"
#include "netlink.h"
#include "reply.h"

#define STATE_UNKNOWN 0
#define STATE_DORMANT 5
#define STATE_UP 6

/* What one family leads to. */
struct way {
    bool online;
    int family;
    const char *code;
    char reason[192];
    struct kernel_route route;
    struct kernel_link link;
    bool has_link;
};

/* Kinds of links, of which the last is empty. */
typedef const char kinds[][12];

static bool is_one_of(const char *word, kinds words)
{
    for (; **words; words++) {
        if (strcmp(word, *words) == 0) return true;
    }
    return false;
}

static bool is_tunnel(const struct kernel_link *link)
{
    static kinds known = {"wireguard", "ipip",      "gre",    "gretap", "erspan", "ip6gre",
                          "ip6gretap", "ip6erspan", "sit",    "ip6tnl", "vti",    "vti6",
                          "xfrm",      "vxlan",     "geneve", "fou",    "gtp",    "bareudp",
                          "ovpn",      "ovpn-dco",  "amt",    ""};
    if (strcmp(link->kind, "tun") == 0) return link->hardware == ARPHRD_NONE;
    return is_one_of(link->kind, known);
}

/* Links that drop every packet. */
static bool is_sink(const struct kernel_link *link)
{
    static kinds known = {"dummy", "ifb", "nlmon", "vsockmon", "vcan", "vxcan", ""};
    return is_one_of(link->kind, known);
}

/* Whether the link that it is a port of receives the answers. */
static bool is_port(const struct kernel_link *link)
{
    static kinds known = {"bridge", "bond", "team", "openvswitch", ""};
    return is_one_of(link->master_kind, known);
}

static const char *medium_of(const struct kernel_link *link)
{
    static const struct {
        char kind[10], medium[10];
    } media[] = {
        {"vlan", "vlan"},      {"bridge", "bridge"},   {"bond", "bond"},       {"team", "bond"},
        {"veth", "virtual"},   {"netkit", "virtual"},  {"vrf", "virtual"},     {"netdevsim", "virtual"},
        {"tun", "virtual"},    {"macvlan", "virtual"}, {"macvtap", "virtual"}, {"ipvlan", "virtual"},
        {"ipvtap", "virtual"}, {"macsec", "virtual"},  {"hsr", "virtual"},     {"dsa", "virtual"},
        {"rmnet", "cellular"}, {"wwan", "cellular"},   {"ppp", "other"},
    };
    if (link->flags & IFF_LOOPBACK) return "loopback";
    if (is_tunnel(link)) return "tunnel";
    if (link->is_wifi) return "wifi";
    for (size_t i = 0; i < sizeof media / sizeof *media; i++) {
        if (strcmp(link->kind, media[i].kind) == 0) return media[i].medium;
    }
    if (is_sink(link)) return "virtual";
    if (link->hardware == ARPHRD_RAWIP) return "cellular";
    return link->hardware == ARPHRD_ETHER ? "ethernet" : "other";
}

static void explain(struct way *way, const char *code, const char *name, const char *rest)
{
    way->code = code;
    snprintf(way->reason, sizeof way->reason, "%s%s", name, rest);
}

/* Why a link carries nothing; false if it does. */
static bool link_fails(struct way *way)
{
    const struct kernel_link *link = &way->link;
    const char *name = link->name;
    if (!(link->flags & IFF_UP)) explain(way, "linkDown", name, " is switched off");
    else if (!(link->flags & IFF_LOWER_UP)) explain(way, "linkDown", name, ": no carrier");
    else if (link->state == STATE_DORMANT || link->flags & IFF_DORMANT)
        explain(way, "linkDown", name, ": link is up but dormant, waiting for authentication");
    else if (!(link->flags & IFF_RUNNING) || (link->state != STATE_UP && link->state != STATE_UNKNOWN))
        explain(way, "linkDown", name, ": not operational");
    else if (is_sink(link)) explain(way, "dropped", name, " drops everything that is sent through it");
    else if (is_port(link))
        explain(way, "bridgePort", name, " is a port of another link, where all answers arrive");
    else return false;
    return true;
}

/* The kernel takes 127.0.0.1 or ::1 where it has nothing better; no packet leaves with them. */
static bool is_loopback(const struct way *way)
{
    static const unsigned char loopback[16] = {[15] = 1};
    return way->family == AF_INET ? way->route.source[0] == 127
                                  : memcmp(way->route.source, loopback, 16) == 0;
}

static bool is_link_local(const struct way *way)
{
    const unsigned char *source = way->route.source;
    /* 169.254/16 behind a gateway is a source like any other, as with some telephones. */
    if (way->family == AF_INET) return source[0] == 169 && source[1] == 254 && !way->route.has_gateway;
    return source[0] == 0xFE && (source[1] & 0xC0) == 0x80;
}

static bool route_fails(struct way *way)
{
    const struct kernel_route *route = &way->route;
    /*
     * What the routes of ip-route(8) that refuse or drop answer with (fib_props, net/ipv4/fib_semantics.c).
     */
    if (route->error == EACCES || route->type == RTN_PROHIBIT)
        explain(way, "prohibited", "a route prohibits the traffic", "");
    else if (route->error == EINVAL || route->type == RTN_BLACKHOLE)
        explain(way, "blackhole", "a route drops the traffic", "");
    else if (route->error == EHOSTUNREACH || route->type == RTN_UNREACHABLE)
        explain(way, "unreachableRoute", "a route refuses the traffic", "");
    else if (route->error || route->interface == 0) explain(way, "noRoute", "no default route", "");
    else return false;
    return true;
}

static void describe(struct way *way)
{
    char gateway[INET6_ADDRSTRLEN], metric[24] = "";
    const struct kernel_route *route = &way->route;
    way->code = "defaultRoute";
    if (route->has_metric) snprintf(metric, sizeof metric, " (metric %u)", route->metric);
    if (route->has_gateway && inet_ntop(route->gateway_family, route->gateway, gateway, sizeof gateway)) {
        snprintf(
            way->reason, sizeof way->reason, "default route via %s on %s%s", gateway, way->link.name, metric);
    } else {
        snprintf(way->reason, sizeof way->reason, "default route on %s%s", way->link.name, metric);
    }
}

/* Asks about one family; false with errno if the kernel cannot be asked. */
static bool ask(int fd, int family, struct way *way)
{
    /* The addresses that the service asks about: in general use, and by no one network. */
    static const unsigned char ipv4[4] = {12, 0, 0, 1}, ipv6[16] = {0x20, 0x01, 0x07, 0xFD, [15] = 1};
    *way = (struct way){.family = family};
    if (!netlink_route(fd, family, family == AF_INET ? ipv4 : ipv6, &way->route)) return false;
    if (way->route.type == RTN_LOCAL && !way->route.error) {
        way->online = true;
        explain(way, "local", "this machine itself has the address that was looked up", "");
        return true;
    }
    if (route_fails(way)) return true;
    if (!netlink_link(fd, way->route.interface, &way->link)) {
        /* It went between the two questions. */
        if (errno != ENODEV) return false;
        explain(way, "noRoute", "the interface of the default route is gone", "");
        return true;
    }
    way->has_link = true;
    if (link_fails(way)) return true;
    bool lacks_address = !way->route.has_source || is_loopback(way);
    if (lacks_address) explain(way, "noAddress", way->link.name, " has no address to send from");
    else if (is_link_local(way))
        explain(way, "linkLocalOnly", way->link.name, " has a link-local address alone");
    else way->online = true;
    if (way->online) describe(way);
    return true;
}

static void put_address(struct bytes *json, const char *key, bool is_there, int family, const void *address)
{
    char text[INET6_ADDRSTRLEN];
    json_put_text(json, key, is_there ? inet_ntop(family, address, text, sizeof text) : NULL);
}

static void put_report(struct bytes *json, const struct way *way, bool has_ipv4, bool has_ipv6)
{
    bool is_wifi = way->link.is_wifi;
    json_open(json, NULL, '{');
    json_open(json, "parameters", '{');
    json_put_integer(json, "schema", 1);
    json_put_text(json, "status", !way->online ? "unreachable" : is_wifi ? "wifi" : "wired");
    json_put_flag(json, "online", way->online);
    json_put_text(json, "interface", way->has_link ? way->link.name : NULL);
    json_put_text(json, "medium", way->has_link ? medium_of(&way->link) : NULL);
    put_address(json, "source", way->route.has_source, way->family, way->route.source);
    put_address(json, "gateway", way->route.has_gateway, way->route.gateway_family, way->route.gateway);
    json_put_text(json, "reason", way->reason);
    json_put_text(json, "reasonCode", way->code);
    json_open(json, "families", '[');
    if (has_ipv4) json_put_text(json, NULL, "ipv4");
    if (has_ipv6) json_put_text(json, NULL, "ipv6");
    json_close(json, ']');
    json_put_flag(json, "tunnel", way->has_link && is_tunnel(&way->link));
    json_put_flag(json, "tunnelUnchecked", way->online && is_tunnel(&way->link));
    if (way->route.has_metric) json_put_integer(json, "metric", way->route.metric);
    json_put_flag(json, "direct", true);
    json_close(json, '}');
    json_close(json, '}');
}

/*
 * The family whose way is reported: one that leads out, else the one that fails for a better reason than no
 * route.
 */
static const struct way *better(const struct way *ipv4, const struct way *ipv6)
{
    if (ipv4->online || ipv6->online) return ipv4->online ? ipv4 : ipv6;
    return strcmp(ipv4->code, "noRoute") == 0 && strcmp(ipv6->code, "noRoute") != 0 ? ipv6 : ipv4;
}

int reach_client_status_direct(const reach_report **report)
{
    struct way ipv4, ipv6;
    struct bytes json = {0};
    int error = REACH_ERROR_NO_MEMORY;
    if (!report) return REACH_ERROR_INVALID_ARGUMENT;
    *report = NULL;
    int fd = netlink_open();
    bool is_asked = fd >= 0 && ask(fd, AF_INET, &ipv4) && ask(fd, AF_INET6, &ipv6);
    int number = errno;
    if (fd >= 0) close(fd);
    errno = number;
    if (!is_asked) return REACH_ERROR_SYSTEM;
    put_report(&json, better(&ipv4, &ipv6), ipv4.online, ipv6.online);
    reach_reply *reply = json.failed ? NULL : reply_read(json.data, json.count, &error);
    bytes_free(&json);
    if (!reply) return error;
    *report = &reply->report;
    return 0;
}
