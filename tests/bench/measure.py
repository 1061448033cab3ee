"""CPU, time and memory of a program and all that it starts, as the kernel counts them."""

import os
import subprocess
import tempfile
import threading
import time

RUN_SECONDS_MAX = 3600
LOOK_SECONDS = 0.05
TICKS = os.sysconf("SC_CLK_TCK")


def tree_of(pid):
    """A process and all below it."""
    found, queue = [], [pid]
    while queue:
        parent = queue.pop()
        found.append(parent)
        try:
            for thread in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{thread}/children", encoding="ascii") as children:
                    queue += [int(child) for child in children.read().split()]
        except OSError:
            pass
    return found


def cpu_seconds(pid):
    """User and system time of one process so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_bytes(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def measure(command, directory, core=None):
    """Runs a command to its end, on one processor if `core` names it.

    exit: its code; cpu: user + system seconds of its whole tree (wait4); wall: seconds; peak: the largest sum of
    resident bytes over the tree, looked at 20 times a second; said: the end of what it said.
    """
    with tempfile.TemporaryFile() as said:
        if core is not None:
            command = ["taskset", "-c", str(core), *command]
        begun = time.monotonic()
        process = subprocess.Popen(
            command, cwd=directory, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
        )
        peak = 0
        done = threading.Event()

        def look():
            nonlocal peak
            while not done.wait(LOOK_SECONDS):
                peak = max(peak, sum(resident_bytes(pid) for pid in tree_of(process.pid)))

        looker = threading.Thread(target=look)
        looker.start()
        timer = threading.Timer(RUN_SECONDS_MAX, lambda: os.killpg(process.pid, 9))
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            os.killpg(process.pid, 9)
            raise
        finally:
            wall = time.monotonic() - begun
            timer.cancel()
            done.set()
            looker.join()
        process.returncode = os.waitstatus_to_exitcode(status)
        size = said.seek(0, os.SEEK_END)
        said.seek(max(0, size - 400))
        return {
            "exit": process.returncode,
            "cpu": usage.ru_utime + usage.ru_stime,
            "wall": wall,
            "peak": peak,
            "said": said.read().decode("utf-8", "replace").strip(),
        }
