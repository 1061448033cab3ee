#!/usr/bin/env python3
"""A switch in user space with bad cables, for kernels without netem: every frame is delayed, and some are lost.

    wire.py --loss 0.2 --delay 0.2 [--seed 1] [--one TAP] TAP…

Makes the tap devices in the namespace that it runs in (they may be moved elsewhere), prints "ready", and forwards
frames between them by their hardware addresses until it is ended. As with netem on each port: a frame is lost with the
probability `--loss`, else it arrives after `--delay` seconds; none overtakes another. With `--one` this holds for the
frames from that tap alone, and from SIGUSR1 on; all others arrive at once.
"""

import argparse
import collections
import errno
import fcntl
import os
import random
import select
import signal
import struct
import time

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
FRAME_MAX = 65536
QUEUE_MAX = 20000  # frames under way; more are lost


def open_tap(name):
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return fd


class Wire:
    def __init__(self, taps, loss, delay, seed, one):
        self.fds = [open_tap(name) for name in taps]
        self.slow = set() if one else set(self.fds)
        if one:
            signal.signal(signal.SIGUSR1, lambda *_: self.slow.add(self.fds[taps.index(one)]))
        self.loss = loss
        self.delay = delay
        self.random = random.Random(seed)
        self.where = {}  # hardware address -> fd
        self.queue = collections.deque()  # (when due, fd, frame); the delay is one, so it is in order

    def take(self, fd):
        """Reads what is there. A device that is down, or gone, gives an error: as if nothing was there."""
        for _ in range(64):
            try:
                frame = os.read(fd, FRAME_MAX)
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EIO, errno.EBADFD):
                    raise
                return
            to, source = frame[0:6], frame[6:12]
            self.where[source] = fd
            to_all = to[0] & 1
            targets = [other for other in self.fds if other != fd and (to_all or self.where.get(to) == other)]
            if fd not in self.slow:
                for target in targets:
                    self.write(target, frame)
            elif self.random.random() >= self.loss and len(self.queue) <= QUEUE_MAX:
                due = time.monotonic() + self.delay
                self.queue.extend((due, target, frame) for target in targets)

    @staticmethod
    def write(fd, frame):
        try:
            os.write(fd, frame)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EIO, errno.EBADFD, errno.ENOBUFS):
                raise

    def give(self):
        while self.queue and self.queue[0][0] <= time.monotonic():
            _, fd, frame = self.queue.popleft()
            self.write(fd, frame)

    def run(self):
        # A tap that is not up yet would report an error all the time: it is asked again and again instead.
        poll = select.poll()
        for fd in self.fds:
            poll.register(fd, select.POLLIN)
        while True:
            wait = 1000.0 if not self.queue else max(0.0, (self.queue[0][0] - time.monotonic()) * 1000)
            broken = False
            for fd, what in poll.poll(wait):
                broken = broken or not what & select.POLLIN
                self.take(fd)
            self.give()
            if broken:
                time.sleep(0.01)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taps", nargs="+", metavar="TAP")
    parser.add_argument("--loss", type=float, required=True, help="share of frames that are lost, 0 to 1")
    parser.add_argument("--delay", type=float, required=True, help="seconds, one way")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one", metavar="TAP", help="only frames from this one, once SIGUSR1 came")
    options = parser.parse_args()
    wire = Wire(options.taps, options.loss, options.delay, options.seed, options.one)
    print("ready", flush=True)
    wire.run()


if __name__ == "__main__":
    main()
