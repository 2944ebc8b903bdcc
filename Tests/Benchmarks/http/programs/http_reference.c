// SPDX-License-Identifier: Apache-2.0
// The reference of the HTTP benchmarks: libcurl's multi interface on epoll, with as little around it as C allows.
//   http_reference get URL REQUESTS CONCURRENCY [CONNECTIONS] | download URL FILE | upload URL FILE
// Environment: BENCH_CA_FILE. CONNECTIONS: at most so many to a host.
// What makes it lean, against the textbook's timerfd and epoll_ctl in every callback:
// - libcurl's timer is a deadline for epoll_wait, and what is due at once runs before the next wait;
// - the changes of sockets are gathered and applied just before the wait: removed and added again costs nothing;
// - finished transfers are taken out, and the next ones put in, before the wait.
// Prints "ok=N failed=N bytes=N waits=N"; exit status 0 only when every transfer was answered with 2xx.
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NEVER = -1, AT_ONCE = 0, LARGE_BUFFER = 256 * 1024, BATCH = 128, STALLED_MS = 60000 };

// By descriptor: what libcurl wants to know of it, what epoll knows of it, whether it is on the list of changes.
static struct watch { unsigned char wanted, known, changed; } *watches;
static int *changes, change_count, watch_count, poller;

static CURLM *multi;
static long long deadline = NEVER, bytes;  // deadline in ms, or one of the words above
static long started, requests = 1, good, bad, waits;
static int file = -1;

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

static size_t write_body(char *data, size_t size, size_t count, void *user) {
  (void)user;
  size_t done = 0, all = size * count;
  while (done < all) {
    ssize_t n = write(file, data + done, all - done);
    if (n <= 0) return 0;
    done += (size_t)n;
  }
  bytes += (long long)all;
  return all;
}

static size_t read_body(char *buffer, size_t size, size_t count, void *user) {
  (void)user;
  ssize_t n = read(file, buffer, size * count);
  return n < 0 ? CURL_READFUNC_ABORT : (size_t)n;
}

static void reap(void) {
  CURLMsg *message;
  int left;
  while ((message = curl_multi_info_read(multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL *easy = message->easy_handle;
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (message->data.result == CURLE_OK && status / 100 == 2) good++;
    else if (!bad++) fprintf(stderr, "%s, status %ld\n", curl_easy_strerror(message->data.result), status);
    curl_multi_remove_handle(multi, easy);
    if (started < requests) started++, curl_multi_add_handle(multi, easy);
    else curl_easy_cleanup(easy);
  }
}

static void add_transfer(const char *verb, const char *url) {
  CURL *easy = curl_easy_init();
  const char *authority = getenv("BENCH_CA_FILE");
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, socket_closed);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, strcmp(verb, "download") ? count_body : write_body);
  if (authority) curl_easy_setopt(easy, CURLOPT_CAINFO, authority);
  if (!strcmp(verb, "download")) curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)LARGE_BUFFER);
  if (!strcmp(verb, "upload")) {
    struct stat status;
    fstat(file, &status);
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_body);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)LARGE_BUFFER);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)status.st_size);
  }
  started++;
  curl_multi_add_handle(multi, easy);
}

static int run(void) {
  struct epoll_event events[BATCH];
  int running;
  while (good + bad < requests) {
    while (deadline == AT_ONCE || (deadline > 0 && now_ms() >= deadline)) {
      deadline = NEVER;
      curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
      reap();
    }
    if (good + bad >= requests) break;
    apply_changes();
    int ready = epoll_wait(poller, events, BATCH, deadline > 0 ? (int)(deadline - now_ms() + 1) : STALLED_MS);
    waits++;
    if (ready < 0 && errno != EINTR) return perror("epoll_wait"), 1;
    if (ready == 0 && deadline < 0) return fprintf(stderr, "stalled\n"), 1;
    for (int i = 0; i < ready; i++) {
      unsigned e = events[i].events;
      int what = (e & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) | (e & EPOLLOUT ? CURL_CSELECT_OUT : 0) | (e & EPOLLERR ? CURL_CSELECT_ERR : 0);
      curl_multi_socket_action(multi, events[i].data.fd, what, &running);
    }
    reap();
  }
  return bad != 0;
}

int main(int arguments, char **argument) {
  if (arguments < 4) return fprintf(stderr, "usage: see the head of http_reference.c\n"), 64;
  const char *verb = argument[1], *url = argument[2];
  long concurrency = 1;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  watch_count = limit.rlim_cur > 65536 ? 65536 : (int)limit.rlim_cur;
  watches = calloc((size_t)watch_count, sizeof *watches);
  changes = calloc((size_t)watch_count, sizeof *changes);
  poller = epoll_create1(EPOLL_CLOEXEC);
  if (!watches || !changes || poller < 0) return perror("http_reference"), 1;
  if (!strcmp(verb, "get")) {
    requests = atol(argument[3]);
    concurrency = arguments > 4 ? atol(argument[4]) : 1;
  } else {
    file = strcmp(verb, "upload") ? open(argument[3], O_WRONLY | O_CREAT | O_TRUNC, 0644) : open(argument[3], O_RDONLY);
    if (file < 0) return perror(argument[3]), 1;
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, concurrency + 4);
  if (arguments > 5) curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, atol(argument[5]));
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer_changed);
  while (started < concurrency && started < requests) add_transfer(verb, url);
  int status = run();
  printf("ok=%ld failed=%ld bytes=%lld waits=%ld\n", good, bad, bytes, waits);
  curl_multi_cleanup(multi);
  return status;
}
