// SPDX-License-Identifier: Apache-2.0
//
// The journal of `recorder.c`: a head and records. Each is appended under a lock that the kernel releases
// when a process is killed, so that a change and its record are one step for all threads and processes. The
// head says whether a process was killed in such a step, and whether others continued then: they may rely on
// a change that has no record.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Names: c created, d a folder made, l linked, r renamed (both names, a zero between them), u removed.
// Contents: w written at the offset, t truncated to it, a allocated up to it, m mapped for writing.
// Syncs: s begun, S ended (the offset is that of its s). Not supported: !.
// A name or what was written follows, of `size` bytes. Files and folders are known by their inode numbers.
struct record {
    char kind, padding[7];
    uint64_t file, folder, other, offset, size;
};

static pthread_mutex_t threads = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;
// The recorded folder, as realpath(3) says it; null without a journal.
static const char *root;

// syscall(2) of the C library, which the recorder replaces; other libraries call the recorder before its own
// beginning.
typedef long system_call(long, ...);
static system_call *next_call(void) {
    static system_call *next;
    if (!next) next = (system_call *)dlsym(RTLD_NEXT, "syscall");
    return next;
}
#define call(...) next_call()(__VA_ARGS__)

static struct head {
    // The offset behind the last whole record.
    uint64_t end;
    // Whether a process is between a change and the end of its record; whether one was, and others went on.
    uint64_t is_busy, was_interrupted;
} head;

static void put(const void *bytes, size_t size, uint64_t offset) {
    for (size_t done = 0; done < size;) {
        long count = call(SYS_pwrite64, journal, (const char *)bytes + done, size - done, offset + done);
        if (count <= 0) abort();
        done += count;
    }
}

static void enter(void) {
    int number = errno;
    pthread_mutex_lock(&threads);
    while (flock(journal, LOCK_EX) != 0 && errno == EINTR) {}
    if (pread(journal, &head, sizeof head, 0) != sizeof head) head = (struct head){.end = sizeof head};
    head.was_interrupted |= head.is_busy;
    head.is_busy = 1;
    put(&head, sizeof head, 0);
    errno = number;
}

static void leave(void) {
    int number = errno;
    head.is_busy = 0;
    put(&head, sizeof head, 0);
    flock(journal, LOCK_UN);
    pthread_mutex_unlock(&threads);
    errno = number;
}

// Returns the offset of the record; it counts from `leave` on.
static uint64_t append(struct record record, const void *bytes) {
    int number = errno;
    uint64_t start = head.end;
    put(&record, sizeof record, start);
    put(bytes, record.size, start + sizeof record);
    head.end += sizeof record + record.size;
    errno = number;
    return start;
}

// Whether an open file or folder is in the recorded folder, or that one itself.
static bool covers(int fd, struct stat *status) {
    if (!root || fd < 0) return false;
    int number = errno;
    bool is_covered = false;
    if (fstat(fd, status) == 0 && (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode))) {
        char link[32], path[PATH_MAX];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(link, path, sizeof path), prefix = strlen(root);
        is_covered = length >= prefix && memcmp(path, root, prefix) == 0 && (length == prefix || path[prefix] == '/');
    }
    errno = number;
    return is_covered;
}

// A name, and the folder that has it.
struct entry {
    uint64_t folder;
    char name[NAME_MAX + 1];
};

// Whether a path leads into the recorded folder.
static bool locate(int base, const char *path, struct entry *entry) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    if (!root || length == 0 || length >= PATH_MAX) return false;
    char above[PATH_MAX];
    memcpy(above, path, length);
    above[length] = 0;
    char *slash = strrchr(above, '/');
    const char *name = slash ? slash + 1 : above;
    if (strlen(name) > NAME_MAX) return false;
    strcpy(entry->name, name);
    if (slash) slash[slash == above] = 0;
    int number = errno;
    struct stat status;
    int folder = call(SYS_openat, base, slash ? above : ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    bool is_covered = covers(folder, &status);
    if (folder >= 0) close(folder);
    errno = number;
    if (is_covered) entry->folder = status.st_ino;
    return is_covered;
}

// The file or folder of a path; 0 without one.
static uint64_t file_at(int base, const char *path) {
    int number = errno;
    struct stat status;
    uint64_t file = fstatat(base, path, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_ino : 0;
    errno = number;
    return file;
}
