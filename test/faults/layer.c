/* Stands between a process and its system, loaded by LD_PRELOAD: a clock that jumps, a disk that is slow or fails, names
 * that can't be looked up, and a journal of what was written and what was synced, from which a power cut is played.
 * What it does is said in a file of 64-bit numbers that both sides map or write: FAULTS_CONTROL. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { CLOCK_AHEAD_MS, SYNC_DELAY_MS, WRITE_ERRNO, NAMES_AWAY, CONTROLS };
enum { OPENED, WRITTEN, TRUNCATED, SYNCED, UNLINKED };

static volatile int64_t none[CONTROLS];
static volatile int64_t *control = none;
static int journal = -1;
static const char *folder;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

#define FILES_MAX 4096
static char *names[FILES_MAX]; /* of open files below the folder, by descriptor */

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("FAULTS_CONTROL");
  if (path) {
    int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    void *at = mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) control = at;
    syscall(SYS_close, fd);
  }
  folder = getenv("FAULTS_FOLDER");
  path = getenv("FAULTS_JOURNAL");
  if (path && folder) journal = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* The journal: one record for each thing that was done to a file below the folder, in order, with its time. */
struct record {
  uint64_t at_ns, kind, offset, length, name_length;
};

static void put(int kind, const char *name, const void *data, uint64_t offset, uint64_t length) {
  if (journal < 0 || !name) return;
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  struct record head = {now.tv_sec * 1000000000ull + now.tv_nsec, kind, offset, data ? length : 0, strlen(name)};
  if (kind == TRUNCATED) head.offset = length;
  if (syscall(SYS_write, journal, &head, sizeof head) < 0 || syscall(SYS_write, journal, name, head.name_length) < 0) abort();
  if (head.length && syscall(SYS_write, journal, data, head.length) < 0) abort();
}

static const char *name_of(int fd) { return fd >= 0 && fd < FILES_MAX ? names[fd] : NULL; }

static int is_ours(const char *path) { return folder && path && !strncmp(path, folder, strlen(folder)); }

static int opened(int fd, const char *path) {
  if (fd < 0 || fd >= FILES_MAX || !is_ours(path)) return fd;
  pthread_mutex_lock(&order);
  names[fd] = strdup(path);
  put(OPENED, path, NULL, 0, 0);
  pthread_mutex_unlock(&order);
  return fd;
}

#define OPEN(name)                                                     \
  int name(const char *path, int flags, ...) {                         \
    va_list rest;                                                      \
    va_start(rest, flags);                                             \
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;  \
    va_end(rest);                                                      \
    int (*real)(const char *, int, ...) = next(#name);                 \
    return opened(real(path, flags, mode), path);                      \
  }
OPEN(open)
OPEN(open64)

int close(int fd) {
  if (name_of(fd)) {
    free(names[fd]);
    names[fd] = NULL;
  }
  return syscall(SYS_close, fd);
}

int unlink(const char *path) {
  pthread_mutex_lock(&order);
  int done = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (!done && is_ours(path)) put(UNLINKED, path, NULL, 0, 0);
  pthread_mutex_unlock(&order);
  return done;
}

/* Everything that changes a file below the folder fails while WRITE_ERRNO is set. */
static int fails(int fd) {
  if (!name_of(fd) || !control[WRITE_ERRNO]) return 0;
  errno = control[WRITE_ERRNO];
  return 1;
}

static ssize_t write_at(int fd, const void *data, size_t length, off_t offset) {
  if (fails(fd)) return -1;
  pthread_mutex_lock(&order);
  ssize_t done = syscall(SYS_pwrite64, fd, data, length, offset);
  if (done > 0) put(WRITTEN, name_of(fd), data, offset, done);
  pthread_mutex_unlock(&order);
  return done;
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return write_at(fd, data, length, offset); }
ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) { return write_at(fd, data, length, offset); }

ssize_t write(int fd, const void *data, size_t length) {
  if (name_of(fd)) {
    off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t done = at < 0 ? -1 : write_at(fd, data, length, at);
    if (done > 0) lseek(fd, at + done, SEEK_SET);
    return done;
  }
  return syscall(SYS_write, fd, data, length);
}

static int truncate_to(int fd, off_t length) {
  if (fails(fd)) return -1;
  pthread_mutex_lock(&order);
  int done = syscall(SYS_ftruncate, fd, length);
  if (!done) put(TRUNCATED, name_of(fd), NULL, 0, length);
  pthread_mutex_unlock(&order);
  return done;
}
int ftruncate(int fd, off_t length) { return truncate_to(fd, length); }
int ftruncate64(int fd, off_t length) { return truncate_to(fd, length); }

/* What is written down as synced is so: the record comes after the system's word, and before the caller hears it. */
static int sync_with(long call, int fd) {
  if (fails(fd)) return -1;
  if (name_of(fd) && control[SYNC_DELAY_MS]) usleep(control[SYNC_DELAY_MS] * 1000);
  int done = syscall(call, fd);
  pthread_mutex_lock(&order);
  if (!done) put(SYNCED, name_of(fd), NULL, 0, 0);
  pthread_mutex_unlock(&order);
  return done;
}
int fsync(int fd) { return sync_with(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_with(SYS_fdatasync, fd); }

/* The time of day jumps; the time since the start of the machine does not, as in life. */
int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = next("clock_gettime");
  int done = real(clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += control[CLOCK_AHEAD_MS] / 1000;
  return done;
}
int gettimeofday(struct timeval *now, void *zone) {
  static int (*real)(struct timeval *, void *);
  if (!real) real = next("gettimeofday");
  int done = real(now, zone);
  now->tv_sec += control[CLOCK_AHEAD_MS] / 1000;
  return done;
}
time_t time(time_t *now) {
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  if (now) *now = at.tv_sec;
  return at.tv_sec;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
  static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
  if (!real) real = next("getaddrinfo");
  return control[NAMES_AWAY] ? EAI_AGAIN : real(name, service, hints, found);
}
