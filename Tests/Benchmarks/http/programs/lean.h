// SPDX-License-Identifier: Apache-2.0
// libcurl's multi interface on epoll, with as little around it as C allows.
#ifndef LEAN_H
#define LEAN_H
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { NEVER = -1, AT_ONCE = 0, LARGE_BUFFER = 256 * 1024, BATCH = 128, STALLED_MS = 60000 };

// By descriptor: what libcurl wants to know of it, what epoll knows of it, whether it is on the list of
// changes.
static struct watch { unsigned char wanted, known, changed; } *watches;
static int *changes, change_count, watch_count, poller;

static CURLM *multi;
static long long deadline = NEVER, bytes;  // deadline in ms, or one of the words above

static long long now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static int socket_changed(CURL *easy, curl_socket_t descriptor, int what, void *user, void *socket_user) {
  (void)easy, (void)user, (void)socket_user;
  if (descriptor >= watch_count) return -1;
  struct watch *w = &watches[descriptor];
  w->wanted = what == CURL_POLL_REMOVE ? 0 : (unsigned char)what;
  if (!w->changed) w->changed = 1, changes[change_count++] = descriptor;
  return 0;
}

// epoll forgets a descriptor that is closed; its number may be a new socket's before the changes are applied.
static int socket_closed(void *user, curl_socket_t descriptor) {
  (void)user;
  if (descriptor < watch_count) watches[descriptor].known = 0;
  return close(descriptor);
}

static int timer_changed(CURLM *m, long ms, void *user) {
  (void)m, (void)user;
  deadline = ms < 0 ? NEVER : ms == 0 ? AT_ONCE : now_ms() + ms;
  return 0;
}

static void apply_changes(void) {
  for (int i = 0; i < change_count; i++) {
    struct watch *w = &watches[changes[i]];
    w->changed = 0;
    if (w->wanted == w->known) continue;
    struct epoll_event event = {.data.fd = changes[i]};
    event.events = (w->wanted & CURL_POLL_IN ? EPOLLIN : 0) | (w->wanted & CURL_POLL_OUT ? EPOLLOUT : 0);
    epoll_ctl(poller, !w->wanted ? EPOLL_CTL_DEL : w->known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, changes[i], &event);
    w->known = w->wanted;
  }
  change_count = 0;
}

static size_t count_body(char *data, size_t size, size_t count, void *user) {
  (void)data, (void)user;
  bytes += (long long)(size * count);
  return size * count;
}

static void add_setup(CURL *easy, const char *url) {
  const char *authority = getenv("BENCH_CA_FILE");
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, socket_closed);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_body);
  if (authority) curl_easy_setopt(easy, CURLOPT_CAINFO, authority);
}

// The poller, the tables of descriptors and the multi handle; false where there is no memory or descriptor
// for them.
static int set_up(long concurrency) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  watch_count = limit.rlim_cur > 65536 ? 65536 : (int)limit.rlim_cur;
  watches = calloc((size_t)watch_count, sizeof *watches);
  changes = calloc((size_t)watch_count, sizeof *changes);
  poller = epoll_create1(EPOLL_CLOEXEC);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  multi = curl_multi_init();
  if (!watches || !changes || poller < 0 || !multi) return 0;
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, concurrency + 4);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer_changed);
  return 1;
}

static int is_due(void) { return deadline == AT_ONCE || (deadline > 0 && now_ms() >= deadline); }

// What is due at once or by now.
static void run_timer(void) {
  int running;
  deadline = NEVER;
  curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
}

static int wait_events(struct epoll_event *events) {
  apply_changes();
  return epoll_wait(poller, events, BATCH, deadline > 0 ? (int)(deadline - now_ms() + 1) : STALLED_MS);
}

static void act(struct epoll_event event) {
  int running;
  unsigned e = event.events;
  int what = (e & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) | (e & EPOLLOUT ? CURL_CSELECT_OUT : 0) | (e & EPOLLERR ? CURL_CSELECT_ERR : 0);
  curl_multi_socket_action(multi, event.data.fd, what, &running);
}

#endif
