// A disk that can lose its power: preloaded (LD_PRELOAD) into processes whose files are below POWER_CUT_ROOT. It writes
// down what has been synced, one line each, into POWER_CUT_LOG; power_cut.py takes the files back to that.
//
//   S inode size                  a file was synced when it was so long (measured before the sync began)
//   D inode /name inode/name …    a directory was synced when it held these names (read before the sync began)
//
// The last names of files are kept as links in POWER_CUT_GRAVES, for a removal that was not synced did not happen.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char root[4096], graves[4096];
static int log_file = -1;

__attribute__((constructor)) static void begin(void) {
  const char* at = getenv("POWER_CUT_ROOT");
  const char* log = getenv("POWER_CUT_LOG");
  const char* kept = getenv("POWER_CUT_GRAVES");
  if (!at || !log || !kept) return;
  snprintf(root, sizeof root, "%s", at);
  snprintf(graves, sizeof graves, "%s", kept);
  log_file = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (log_file < 0) abort();
}

static int below_root(const char* path) {
  const size_t length = strlen(root);
  return length > 0 && strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == 0);
}

// One write(2) to a file that is open for appending: lines of several processes do not mix.
static void note(const char* line, size_t length) {
  if (write(log_file, line, length) != (ssize_t)length) abort();
}

static void note_directory(int fd, unsigned long long inode, int (*sync)(int), int* failed) {
  size_t room = 1 << 16, length = 0;
  char* line = malloc(room);
  DIR* names = fdopendir(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!line || !names) abort();
  length += (size_t)sprintf(line, "D %llu ", inode);
  for (struct dirent* entry; (entry = readdir(names));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    if (length + sizeof entry->d_name + 64 > room && !(line = realloc(line, room *= 2))) abort();
    length += (size_t)sprintf(line + length, "/%s %llu", entry->d_name, (unsigned long long)entry->d_ino);
  }
  closedir(names);
  line[length++] = '\n';
  *failed = sync(fd);
  const int error = errno;
  if (!*failed) note(line, length);
  free(line);
  errno = error;
}

static int synced(int fd, int (*sync)(int)) {
  struct stat before;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  if (log_file < 0 || fstat(fd, &before) || !below_root(path)) return sync(fd);
  int failed = 0;
  if (S_ISDIR(before.st_mode)) {
    note_directory(fd, (unsigned long long)before.st_ino, sync, &failed);
  } else if (!(failed = sync(fd))) {
    char line[64];
    note(line, (size_t)sprintf(line, "S %llu %lld\n", (unsigned long long)before.st_ino, (long long)before.st_size));
  }
  return failed;
}

static int real_fsync(int fd) { return (int)syscall(SYS_fsync, fd); }
static int real_fdatasync(int fd) { return (int)syscall(SYS_fdatasync, fd); }
int fsync(int fd) { return synced(fd, real_fsync); }
int fdatasync(int fd) { return synced(fd, real_fdatasync); }

// Before a name goes: its file stays.
static void bury(int at, const char* path) {
  struct stat status;
  char grave[8192];
  const int error = errno;
  if (log_file >= 0 && below_root(path) && !fstatat(at, path, &status, AT_SYMLINK_NOFOLLOW) && S_ISREG(status.st_mode)) {
    snprintf(grave, sizeof grave, "%s/%llu", graves, (unsigned long long)status.st_ino);
    if (linkat(at, path, AT_FDCWD, grave, 0) && errno != EEXIST) abort();
  }
  errno = error;
}

int unlinkat(int at, const char* path, int flags) {
  if (!(flags & AT_REMOVEDIR)) bury(at, path);
  return (int)syscall(SYS_unlinkat, at, path, flags);
}

int unlink(const char* path) { return unlinkat(AT_FDCWD, path, 0); }

int remove(const char* path) {
  const int failed = unlinkat(AT_FDCWD, path, 0);
  return failed && (errno == EISDIR || errno == EPERM) ? unlinkat(AT_FDCWD, path, AT_REMOVEDIR) : failed;
}

int renameat(int from_at, const char* from, int to_at, const char* to) {
  bury(to_at, to);
  return (int)syscall(SYS_renameat2, from_at, from, to_at, to, 0);
}

int rename(const char* from, const char* to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }
