// SPDX-License-Identifier: Apache-2.0
// Kernel interfaces that Swift's Glibc module lacks: epoll, eventfd, timerfd, setns, socket filters.
#pragma once
// Without _GNU_SOURCE: Swift's Glibc module is built without it, and the two must agree on every type that
// they share.
#include <sys/xattr.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

// On 32-bit machines glibc has files of 2 GiB and times until 2038 unless more is asked for, by each C target
// and by Swift's Glibc module alike.
_Static_assert(sizeof(off_t) == 8 && sizeof(time_t) == 8,
               "build with: swift build -Xcc -D_FILE_OFFSET_BITS=64 -Xcc -D_TIME_BITS=64");

// epoll_event's data is a union and, on x86-64, packed: typed access is easier than importing it.
static inline int clinux_epoll_ctl(int epoll, int operation, int descriptor, uint32_t events, uint64_t data) {
    struct epoll_event event = {.events = events, .data = {.u64 = data}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}
static inline uint64_t clinux_event_data(const struct epoll_event *event) { return event->data.u64; }
static inline uint32_t clinux_event_mask(const struct epoll_event *event) { return event->events; }

// glibc hides these behind _GNU_SOURCE; the system calls themselves are always there.
enum { CLINUX_CLONE_NEWNET = CLONE_NEWNET, CLINUX_CLONE_NEWNS = CLONE_NEWNS, CLINUX_O_PATH = __O_PATH };
static inline int clinux_setns(int descriptor, int type) { return (int)syscall(SYS_setns, descriptor, type); }
static inline int clinux_unshare(int flags) { return (int)syscall(SYS_unshare, flags); }

// Whether a thread's stack, and 2 MiB for what the process does besides, fit into RLIMIT_AS (setrlimit(2)):
// Swift ends a process that has no memory left.
static inline bool clinux_has_room_for_thread(void) {
    struct rlimit space, stack;
    if (getrlimit(RLIMIT_AS, &space) || space.rlim_cur == RLIM_INFINITY) return true;
    bool is_unlimited = getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur == RLIM_INFINITY;
    size_t size = (is_unlimited ? 8 << 20 : stack.rlim_cur) + (2 << 20);
    void *place = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) return false;
    munmap(place, size);
    return true;
}

// epoll_pwait2(2), Linux 5.11, waits for nanoseconds where epoll_wait(2) counts milliseconds; in glibc since
// 2.35.
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
// Waits for `nanoseconds`; for ever if negative. The kernel's timespec has 64-bit fields on every machine.
static inline int clinux_epoll_wait_precise(int epoll, struct epoll_event *events, int count, int64_t nanoseconds) {
    struct {
        int64_t seconds, nanoseconds;
    } timeout = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return (int)syscall(SYS_epoll_pwait2, epoll, events, count, nanoseconds < 0 ? NULL : &timeout, NULL, 0);
}
static inline const struct epoll_event *clinux_event_at(const struct epoll_event *events, int index) {
    return events + index;
}
enum {
    CLINUX_EPOLLIN = EPOLLIN,
    CLINUX_EPOLLOUT = EPOLLOUT,
    CLINUX_EPOLLPRI = EPOLLPRI,
    CLINUX_EPOLLERR = EPOLLERR,
    CLINUX_EPOLLHUP = EPOLLHUP,
};
static const uint32_t CLINUX_EPOLLET = 1u << 31;

// A number that no other running thread has; pthread_t is a number in glibc and a pointer in musl.
static inline uintptr_t clinux_current_thread(void) { return (uintptr_t)pthread_self(); }
// The time of this thread's loop, where a test moves it; NULL for CLOCK_MONOTONIC.
extern __thread const int64_t *clinux_moved_time __attribute__((tls_model("initial-exec")));
// Sets the time of the calling thread, which stays allocated until the thread ends; NULL undoes it.
void clinux_set_moved_time(const int64_t *time);
static inline int clinux_has_moved_time(void) { return clinux_moved_time != 0; }
static inline int64_t clinux_load_time(const int64_t *time) { return __atomic_load_n(time, __ATOMIC_ACQUIRE); }
static inline void clinux_store_time(int64_t *time, int64_t now) { __atomic_store_n(time, now, __ATOMIC_RELEASE); }
// Nanoseconds of CLOCK_MONOTONIC, or of the time that a test moves.
static inline int64_t clinux_monotonic_nanoseconds(void) {
    const int64_t *moved = clinux_moved_time;
    if (__builtin_expect(moved != 0, 0)) return clinux_load_time(moved);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
// Whether something keeps the wall clock right (adjtimex(2)): 1 or 0, or -1 where the kernel does not say, as
// to containers whose filter refuses the call.
static inline int clinux_is_clock_synchronized(void) {
    struct timex clock = {.modes = 0};
    int state = adjtimex(&clock);
    if (state < 0) return -1;
    return state != TIME_ERROR && !(clock.status & STA_UNSYNC);
}
// Sets the calling thread's name, of which the kernel stores 15 bytes.
static inline void clinux_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

// Copies the access control list of a file (acl(5)) to an open file; if that has none, removes the list that
// the open file inherited from its folder. 0, or an errno(3).
static inline int clinux_copy_acl(const char *from, int to) {
    static const char name[] = "system.posix_acl_access";
    char list[4096];
    ssize_t count = lgetxattr(from, name, list, sizeof list);
    if (count < 0 && errno != ENODATA && errno != EOPNOTSUPP) return errno;
    if (count < 0) return fremovexattr(to, name) == 0 || errno == ENODATA || errno == EOPNOTSUPP ? 0 : errno;
    return fsetxattr(to, name, list, (size_t)count, 0) == 0 ? 0 : errno;
}

static inline int clinux_rename_new(const char *source, const char *target) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, source, AT_FDCWD, target, 1u);
}
// copy_file_range(2), from the current position of both.
static inline ssize_t clinux_copy_range(int source, int target, size_t count) {
    return syscall(SYS_copy_file_range, source, (void *)0, target, (void *)0, count, 0u);
}

// accept4(2), which glibc hides behind _GNU_SOURCE: a child that is started meanwhile does not inherit the
// connection.
int clinux_accept(int descriptor);

// Limits the wait of connect(2) and of sending (SO_SNDTIMEO, socket(7)), whose number depends on the size of
// time_t. 0, or -1 with errno.
int clinux_set_send_timeout(int descriptor, int64_t nanoseconds);

// getsockopt(2): the supplementary groups of a Unix socket's peer, since Linux 4.13; missing in older
// headers.
enum { CLINUX_SO_PEERGROUPS = 59 };
struct clinux_credentials {
    int32_t process;
    uint32_t user, group;
};
// struct ucred (SO_PEERCRED, unix(7)), which glibc hides behind _GNU_SOURCE; 0, or -1 with errno.
int clinux_peer_credentials(int descriptor, struct clinux_credentials *peer);

// The system call numbers that all architectures share since Linux 5.1.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
// A descriptor that becomes readable when the process ends (pidfd_open(2), Linux 5.3); always close-on-exec.
static inline int clinux_pidfd_open(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }
static inline int clinux_pidfd_send_signal(int descriptor, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, (void *)0, 0);
}
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
// Marks all descriptors from the first on close-on-exec (close_range(2), CLOSE_RANGE_CLOEXEC, Linux 5.11).
static inline int clinux_close_on_exec_from(unsigned first) { return (int)syscall(SYS_close_range, first, ~0u, 4u); }
// A pipe whose ends are close-on-exec from the start.
static inline int clinux_pipe(int ends[2]) { return (int)syscall(SYS_pipe2, ends, O_CLOEXEC); }
// Starts a child in an open directory (posix_spawn_file_actions_addfchdir_np, glibc 2.29). The first argument
// is a posix_spawn_file_actions_t.
int clinux_spawn_in_directory(void *actions, int descriptor);
// Nanoseconds of CLOCK_BOOTTIME, which also counts while the machine is suspended.
static inline int64_t clinux_boot_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// An ICMP message about a connection (sock_extended_err, linux/errqueue.h), and its sender.
struct clinux_icmp_error {
    uint8_t type, code;
    // AF_INET or AF_INET6, and the sender's address in network order.
    uint8_t family;
    uint8_t sender[16];
};
// Queues such messages at the socket (IP_RECVERR, IPV6_RECVERR; ip(7)). TCP queues those about a connection
// that is being made (tcp_v4_err(), net/ipv4/tcp_ipv4.c). 0, or -1 with errno.
int clinux_queue_icmp_errors(int descriptor, int family);
// Removes the next queued message: 1, or 0 if there is none.
int clinux_next_icmp_error(int descriptor, struct clinux_icmp_error *error);

// A thread's rights to files (setfsuid(2), credentials(7)): the system calls change the calling thread alone,
// while glibc's setgroups(3) changes all threads. On old 32-bit architectures the plain numbers take 16 bits.
#ifndef SYS_setfsuid32
#define SYS_setfsuid32 SYS_setfsuid
#define SYS_setfsgid32 SYS_setfsgid
#endif
#ifndef SYS_setgroups32
#define SYS_setgroups32 SYS_setgroups
#endif
// Returns the former user; an invalid number changes nothing.
static inline uint32_t clinux_set_file_user(uint32_t user) { return (uint32_t)syscall(SYS_setfsuid32, user); }
static inline uint32_t clinux_set_file_group(uint32_t group) { return (uint32_t)syscall(SYS_setfsgid32, group); }
static inline int clinux_set_thread_groups(int count, const uint32_t *groups) {
    return (int)syscall(SYS_setgroups32, count, groups);
}
