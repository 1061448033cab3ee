// Sets the wall clock back for one process: preloaded (LD_PRELOAD), with CHAOS_CLOCK_BACK seconds. The steady clocks
// are left as they are, as when a machine's time is corrected.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t back(void) {
  const char* seconds = getenv("CHAOS_CLOCK_BACK");
  return seconds ? (time_t)strtol(seconds, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec -= back();
  return failed;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  const int failed = (int)syscall(SYS_gettimeofday, now, zone);
  if (!failed) now->tv_sec -= back();
  return failed;
}

time_t time(time_t* into) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (into) *into = now.tv_sec;
  return now.tv_sec;
}
