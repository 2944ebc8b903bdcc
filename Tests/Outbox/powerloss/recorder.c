// SPDX-License-Identifier: Apache-2.0
//
// Records what programs change in one folder, and what they sync; `disk.py` makes from it what a disk may
// have after a loss of power. Preloaded (LD_PRELOAD) by `Tests/Outbox/kill --power`:
//
//     REACH_POWERLOSS_FOLDER   the folder, as realpath(3) says it
//     REACH_POWERLOSS_JOURNAL  the file of the records
//     REACH_POWERLOSS_KILL     a number: the process is killed right before this sync, where most is at stake
//     REACH_POWERLOSS_IGNORE   "files", "folders" or "all": their syncs count for nothing
//     REACH_POWERLOSS_BOOT     a file that programs read as the kernel's boot_id (random(4)), which changes
//                              with a loss of power
//
// A sync has a record before it and one after it: with the second, what was recorded before the first is on
// the disk. Not recorded: symbolic links, modes, owners, O_SYNC, and changes past these functions; `disk.py`
// compares the records with the folder to find what is missing. sync_file_range(2) promises nothing, and
// counts for nothing here.
#define _GNU_SOURCE
#include "journal.h"
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>

// The names for files over 2 GiB, which are the same functions on 64 bits.
#define ALIAS(name) __attribute__((alias(#name)))

static const char *ignored = "";
// The syncs until the process is killed; never, from 0 on.
static int syncs_left = 0;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("REACH_POWERLOSS_JOURNAL"), *ignore = getenv("REACH_POWERLOSS_IGNORE");
    const char *number = getenv("REACH_POWERLOSS_KILL");
    if (ignore) ignored = ignore;
    if (number) syncs_left = atoi(number);
    if (path) journal = call(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (journal >= 0) root = getenv("REACH_POWERLOSS_FOLDER");
}

static void append_name(char kind, uint64_t file, const struct entry *at) {
    append((struct record){.kind = kind, .file = file, .folder = at->folder, .size = strlen(at->name)}, at->name);
}

static int opened(int base, const char *path, int flags, mode_t mode) {
    struct entry at;
    const char *boot = getenv("REACH_POWERLOSS_BOOT");
    if (boot && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) path = boot;
    bool is_nameless = (flags & O_TMPFILE) == O_TMPFILE;
    if (!(flags & (O_CREAT | O_TRUNC) || is_nameless) || !locate(base, path, &at)) {
        return call(SYS_openat, base, path, flags, mode);
    }
    enter();
    bool is_there = file_at(base, path) != 0;
    struct stat status;
    int fd = call(SYS_openat, base, path, flags, mode);
    if (covers(fd, &status)) {
        if (is_nameless) append((struct record){.kind = 'c', .file = status.st_ino}, "");
        else if (!is_there) append_name('c', status.st_ino, &at);
        else if (flags & O_TRUNC) append((struct record){.kind = 't', .file = status.st_ino}, "");
    }
    leave();
    return fd;
}

#define MODE ({ va_list list; va_start(list, flags); mode_t mode = va_arg(list, mode_t); va_end(list); mode; })
int open(const char *path, int flags, ...) { return opened(AT_FDCWD, path, flags, MODE); }
int openat(int base, const char *path, int flags, ...) { return opened(base, path, flags, MODE); }
int open64(const char *path, int flags, ...) ALIAS(open);
int openat64(int base, const char *path, int flags, ...) ALIAS(openat);

// `from` is -1 for the descriptor's own position.
static ssize_t written(int fd, const void *bytes, size_t size, off_t from) {
    struct stat status;
    bool is_covered = covers(fd, &status);
    if (is_covered) enter();
    ssize_t done = from < 0 ? call(SYS_write, fd, bytes, size) : call(SYS_pwrite64, fd, bytes, size, from);
    if (!is_covered) return done;
    // The position is behind what was written, also where the descriptor appends.
    off_t offset = from < 0 ? lseek(fd, 0, SEEK_CUR) - done : from;
    if (done > 0) append((struct record){.kind = 'w', .file = status.st_ino, .offset = offset, .size = done}, bytes);
    leave();
    return done;
}

ssize_t write(int fd, const void *bytes, size_t size) { return written(fd, bytes, size, -1); }
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t from) { return written(fd, bytes, size, from); }
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t from) ALIAS(pwrite);

// Truncates, or allocates where `kind` is 'a'.
static int resized(int fd, char kind, off_t from, off_t size) {
    struct stat status;
    bool is_covered = covers(fd, &status);
    if (is_covered) enter();
    int result = kind == 't' ? call(SYS_ftruncate, fd, size) : call(SYS_fallocate, fd, 0, from, size);
    if (!is_covered) return result;
    if (result == 0) append((struct record){.kind = kind, .file = status.st_ino, .offset = from + size}, "");
    leave();
    return result;
}

int ftruncate(int fd, off_t size) { return resized(fd, 't', 0, size); }
int ftruncate64(int fd, off_t size) ALIAS(ftruncate);
// Fails where the file system cannot do it; zeros are not written instead.
int posix_fallocate(int fd, off_t from, off_t size) { return resized(fd, 'a', from, size) == 0 ? 0 : errno; }
int posix_fallocate64(int fd, off_t from, off_t size) ALIAS(posix_fallocate);

int truncate(const char *path, off_t size) {
    int fd = call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0) return -1;
    int result = ftruncate(fd, size);
    close(fd);
    return result;
}
int truncate64(const char *path, off_t size) ALIAS(truncate);

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    struct stat status;
    if (protection & PROT_WRITE && (flags & MAP_TYPE) != MAP_PRIVATE && covers(fd, &status)) {
        enter();
        append((struct record){.kind = 'm', .file = status.st_ino}, "");
        leave();
    }
    return (void *)call(SYS_mmap, address, size, (long)protection, (long)flags, (long)fd, offset);
}
void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset) ALIAS(mmap);

static int synced(int fd, long number) {
    struct stat status;
    if (!covers(fd, &status)) return call(number, fd);
    if (__atomic_sub_fetch(&syncs_left, 1, __ATOMIC_SEQ_CST) == 0) kill(getpid(), SIGKILL);
    enter();
    uint64_t first = append((struct record){.kind = 's', .file = status.st_ino}, "");
    leave();
    int result = call(number, fd);
    const char *what = S_ISDIR(status.st_mode) ? "folders" : "files";
    if (result != 0 || strcmp(ignored, "all") == 0 || strcmp(ignored, what) == 0) return result;
    enter();
    append((struct record){.kind = 'S', .file = status.st_ino, .offset = first}, "");
    leave();
    return result;
}

int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }

static int removed(int base, const char *path, int flags) {
    struct entry at;
    if (!locate(base, path, &at)) return call(SYS_unlinkat, base, path, flags);
    enter();
    uint64_t file = file_at(base, path);
    int result = call(SYS_unlinkat, base, path, flags);
    if (result == 0) append_name('u', file, &at);
    leave();
    return result;
}

int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int unlinkat(int base, const char *path, int flags) { return removed(base, path, flags); }
int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdir(const char *path, mode_t mode) {
    struct entry at;
    if (!locate(AT_FDCWD, path, &at)) return call(SYS_mkdir, path, mode);
    enter();
    int result = call(SYS_mkdir, path, mode);
    if (result == 0) append_name('d', file_at(AT_FDCWD, path), &at);
    leave();
    return result;
}

int linkat(int base, const char *path, int other_base, const char *other, int flags) {
    struct entry at;
    if (!locate(other_base, other, &at)) return call(SYS_linkat, base, path, other_base, other, flags);
    enter();
    int result = call(SYS_linkat, base, path, other_base, other, flags);
    if (result == 0) append_name('l', file_at(other_base, other), &at);
    leave();
    return result;
}
int link(const char *path, const char *other) { return linkat(AT_FDCWD, path, AT_FDCWD, other, 0); }

int renameat2(int base, const char *path, int other_base, const char *other, unsigned flags) {
    struct entry from, to;
    bool leaves = locate(base, path, &from), enters = locate(other_base, other, &to);
    if (!leaves && !enters) return call(SYS_renameat2, base, path, other_base, other, flags);
    enter();
    struct record record = {.kind = '!', .file = file_at(base, path)};
    int result = call(SYS_renameat2, base, path, other_base, other, flags);
    char names[2 * NAME_MAX + 2] = "";
    if (leaves && enters && (flags & ~RENAME_NOREPLACE) == 0) {
        record.kind = 'r';
        record.folder = from.folder;
        record.other = to.folder;
        record.size = snprintf(names, sizeof names, "%s%c%s", from.name, 0, to.name);
    }
    if (result == 0) append(record, names);
    leave();
    return result;
}
int rename(const char *path, const char *other) { return renameat2(AT_FDCWD, path, AT_FDCWD, other, 0); }
int renameat(int base, const char *path, int other_base, const char *other) {
    return renameat2(base, path, other_base, other, 0);
}

// Programs rename by number where a C library is older than renameat2(2).
long syscall(long number, ...) {
    long values[6];
    va_list list;
    va_start(list, number);
    for (int index = 0; index < 6; index++) values[index] = va_arg(list, long);
    va_end(list);
    if (number != SYS_renameat2) {
        return call(number, values[0], values[1], values[2], values[3], values[4], values[5]);
    }
    return renameat2(values[0], (const char *)values[1], values[2], (const char *)values[3], values[4]);
}
