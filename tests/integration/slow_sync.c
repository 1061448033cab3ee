// A slow disk: preloaded (LD_PRELOAD) into processes, it makes each sync of a file below SLOW_SYNC_ROOT take SLOW_SYNC_MS
// milliseconds longer, and writes the file's path into SLOW_SYNC_LOG, a line for each.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char root[4096];
static int log_file = -1;
static long milliseconds;

__attribute__((constructor)) static void begin(void) {
  const char* at = getenv("SLOW_SYNC_ROOT");
  const char* log = getenv("SLOW_SYNC_LOG");
  const char* wait = getenv("SLOW_SYNC_MS");
  if (!at || !log || !wait) return;
  snprintf(root, sizeof root, "%s/", at);
  milliseconds = atol(wait);
  log_file = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (log_file < 0) abort();
}

static int synced(int fd, long call) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 2);
  path[length > 0 ? length : 0] = 0;
  if (log_file >= 0 && !strncmp(path, root, strlen(root))) {
    const struct timespec wait = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&wait, NULL);
    path[length] = '\n';
    if (write(log_file, path, (size_t)length + 1) != length + 1) abort();
  }
  return (int)syscall(call, fd);
}

int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }
