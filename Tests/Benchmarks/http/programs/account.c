// SPDX-License-Identifier: Apache-2.0
// Runs a command and writes what the kernel accounted for it and for the children that it waited for.
//   account FILE COMMAND...
// Writes "wall_us=N user_us=N system_us=N peak_kib=N sleeps=N preemptions=N status=N".
// Tiny and started by vfork, because a child's peak of memory begins at its parent's.
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long microseconds(struct timeval t) { return t.tv_sec * 1000000 + t.tv_usec; }

int main(int arguments, char **argument) {
  if (arguments < 3) return fprintf(stderr, "usage: account FILE COMMAND...\n"), 64;
  struct timespec start, end;
  struct rusage used;
  int status = 0;
  clock_gettime(CLOCK_MONOTONIC, &start);
  pid_t child = vfork();
  if (!child) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(argument[2], argument + 2);
    _exit(127);
  }
  if (child < 0 || wait4(child, &status, 0, &used) < 0) return perror("account"), 1;
  clock_gettime(CLOCK_MONOTONIC, &end);
  FILE *file = fopen(argument[1], "w");
  if (!file) return perror(argument[1]), 1;
  fprintf(file, "wall_us=%ld user_us=%ld system_us=%ld peak_kib=%ld sleeps=%ld preemptions=%ld status=%d\n",
          (end.tv_sec - start.tv_sec) * 1000000 + (end.tv_nsec - start.tv_nsec) / 1000, microseconds(used.ru_utime),
          microseconds(used.ru_stime), used.ru_maxrss, used.ru_nvcsw, used.ru_nivcsw,
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return fclose(file) != 0;
}
