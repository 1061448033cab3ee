"""Listening at the switch: to all that the peers say, and to one of them."""

import contextlib
import pathlib
import re
import select
import signal
import socket
import sys
import time

import netns
import ring

HERE = pathlib.Path(__file__).resolve().parent
PORTS = "r-p"  # what the names of the switch's ports to peers begin with
ETH_P_ALL = 0x0003


class Recorder:
    """outside/recorder.py at work on a Net, from now on."""

    def __init__(self, net, file):
        command = [sys.executable, "-B", HERE / "outside" / "recorder.py", "--ports", PORTS, "--tcp", netns.RING_PORT]
        self.process = ring.Process(netns.command_in(net.switch, *command, file), net.directory, "recorder")
        ring.wait_until("the recorder is ready", lambda: self.process.out or not self.process.running(), 10)
        if not self.process.running():
            raise netns.NetError("the recorder ended: " + self.process.err)

    def end(self):
        """How many frames are not in the record."""
        self.process.signal(signal.SIGTERM)
        self.process.wait(20)
        told = re.search(r"^frames \d+ dropped (\d+)$", self.process.out, re.MULTILINE)
        if not told:
            raise netns.NetError("the recorder did not end well: " + self.process.err)
        return int(told.group(1))

    def kill(self):
        with contextlib.suppress(AssertionError):
            self.process.kill()


class Ear:
    """Hears what one peer sends to the ring, from now on."""

    def __init__(self, net, number):
        with netns.inside(net.switch):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.bind((f"{PORTS}{number}", ETH_P_ALL))

    def wait(self, count, seconds):
        """Until it has sent so many TCP segments with something in them: how many it sent."""
        heard = 0
        end = time.monotonic() + seconds
        while heard < count and (left := end - time.monotonic()) > 0:
            if select.select([self.socket], [], [], left)[0]:
                frame, sender = self.socket.recvfrom(1 << 18)
                heard += sender[2] != socket.PACKET_OUTGOING and self._says_something(frame)
        return heard

    @staticmethod
    def _says_something(frame):
        if len(frame) < 54 or frame[12:14] != b"\x08\x00" or frame[23] != 6:
            return False
        tcp = 14 + (frame[14] & 15) * 4
        size = int.from_bytes(frame[16:18], "big") or len(frame) - 14
        return 14 + size > tcp + (frame[tcp + 12] >> 4) * 4

    def close(self):
        self.socket.close()
