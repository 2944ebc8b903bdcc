// SPDX-License-Identifier: Apache-2.0
// Kernel interfaces that Swift's Glibc module lacks: epoll, eventfd, timerfd, setns, socket filters.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <linux/filter.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

// epoll_event's data is a union and, on x86-64, packed: typed access is easier than importing it.
static inline int clinux_epoll_ctl(int epoll, int operation, int descriptor, uint32_t events, uint64_t data) {
    struct epoll_event event = {.events = events, .data = {.u64 = data}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}
static inline uint64_t clinux_event_data(const struct epoll_event *event) { return event->data.u64; }
static inline uint32_t clinux_event_mask(const struct epoll_event *event) { return event->events; }

// CLONE_NEWNET and unshare/setns are hidden behind _GNU_SOURCE, which Swift's own Glibc map may not set.
enum { CLINUX_CLONE_NEWNET = CLONE_NEWNET, CLINUX_CLONE_NEWNS = CLONE_NEWNS };
static inline int clinux_setns(int descriptor, int type) { return setns(descriptor, type); }
static inline int clinux_unshare(int flags) { return unshare(flags); }
static inline int clinux_gettid(void) { return (int)syscall(SYS_gettid); }
