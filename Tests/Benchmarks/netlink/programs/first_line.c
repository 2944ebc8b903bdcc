// Starts a command and measures exec to the first byte on its standard output, then its memory.
//   first_line SETTLE_MS TIMEOUT_S COMMAND...
// Prints "us=N cpu_us=N rss_kib=N peak_kib=N private_kib=N"; us is -1 when the time ran out without a byte.
// Tiny and started by vfork, because a child's memory figures begin at its parent's.
#include "clock.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// The sum of the fields whose names begin so, in KiB.
static long field(pid_t child, const char *file, const char *name) {
  char path[64], line[256];
  long sum = 0;
  snprintf(path, sizeof path, "/proc/%d/%s", child, file);
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f))
    if (!strncmp(line, name, strlen(name)) && strchr(line, ':')) sum += atol(strchr(line, ':') + 1);
  if (f) fclose(f);
  return sum;
}

int main(int arguments, char **argument) {
  if (arguments < 4) return fprintf(stderr, "usage: see the head of first_line.c\n"), 64;
  int settle = atoi(argument[1]), timeout = atoi(argument[2]), ends[2], status;
  if (pipe(ends)) return perror("pipe"), 1;
  uint64_t start = now_ns();
  pid_t child = vfork();
  if (!child) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    execvp(argument[3], argument + 3);
    _exit(127);
  }
  close(ends[1]);
  double microseconds = -1;
  static char buffer[65536];
  struct pollfd output = {ends[0], POLLIN, 0};
  if (poll(&output, 1, timeout * 1000) > 0 && output.revents & POLLIN) microseconds = (double)(now_ns() - start) / 1e3;
  for (uint64_t end = now_ns() + (uint64_t)settle * 1000000; now_ns() < end;)
    if (poll(&output, 1, 10) <= 0 || read(ends[0], buffer, sizeof buffer) <= 0) usleep(5000);
  long rss = field(child, "smaps_rollup", "Rss:"), private = field(child, "smaps_rollup", "Private_");
  long peak = field(child, "status", "VmHWM:");
  struct rusage used;
  kill(child, SIGTERM);
  for (int i = 0; i < 300; i++) {
    if (wait4(child, &status, WNOHANG, &used) == child) goto ended;
    if (poll(&output, 1, 10) > 0 && read(ends[0], buffer, sizeof buffer) <= 0) usleep(10000);
  }
  kill(child, SIGKILL);
  wait4(child, &status, 0, &used);
ended:
  printf("us=%.0f cpu_us=%ld rss_kib=%ld peak_kib=%ld private_kib=%ld\n", microseconds,
         (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec + used.ru_stime.tv_usec, rss, peak, private);
}
