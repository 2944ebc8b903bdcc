// SPDX-License-Identifier: Apache-2.0
// The reference of the HTTP benchmarks: libcurl's multi interface on epoll, with as little around it as C
// allows.
//   http_reference get URL REQUESTS CONCURRENCY [CONNECTIONS] | download URL FILE | upload URL FILE
// Environment: BENCH_CA_FILE. CONNECTIONS: at most so many to a host. What makes it lean, against the
// textbook's timerfd and epoll_ctl in every callback:
// - libcurl's timer is a deadline for epoll_wait, and what is due at once runs before the next wait;
// - the changes of sockets are gathered and applied just before the wait: removed and added again costs
//   nothing;
// - finished transfers are taken out, and the next ones put in, before the wait.
// Prints "ok=N failed=N bytes=N waits=N"; exit status 0 only when every transfer was answered with 2xx.
#include <fcntl.h>
#include <sys/stat.h>

#include "lean.h"

static long started, requests = 1, good, bad, waits;
static int file = -1;

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
  add_setup(easy, url);
  if (!strcmp(verb, "download")) {
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write_body);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)LARGE_BUFFER);
  }
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
  while (good + bad < requests) {
    while (is_due()) {
      run_timer();
      reap();
    }
    if (good + bad >= requests) break;
    int ready = wait_events(events);
    waits++;
    if (ready < 0 && errno != EINTR) return perror("epoll_wait"), 1;
    if (ready == 0 && deadline < 0) return fprintf(stderr, "stalled\n"), 1;
    for (int i = 0; i < ready; i++) act(events[i]);
    reap();
  }
  return bad != 0;
}

int main(int arguments, char **argument) {
  if (arguments < 4) return fprintf(stderr, "usage: see the head of http_reference.c\n"), 64;
  const char *verb = argument[1], *url = argument[2];
  long concurrency = 1;
  if (!strcmp(verb, "get")) {
    requests = atol(argument[3]);
    concurrency = arguments > 4 ? atol(argument[4]) : 1;
  } else {
    file = strcmp(verb, "upload") ? open(argument[3], O_WRONLY | O_CREAT | O_TRUNC, 0644) : open(argument[3], O_RDONLY);
    if (file < 0) return perror(argument[3]), 1;
  }
  if (!set_up(concurrency)) return perror("http_reference"), 1;
  if (arguments > 5) curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, atol(argument[5]));
  while (started < concurrency && started < requests) add_transfer(verb, url);
  int status = run();
  printf("ok=%ld failed=%ld bytes=%lld waits=%ld\n", good, bad, bytes, waits);
  curl_multi_cleanup(multi);
  return status;
}
