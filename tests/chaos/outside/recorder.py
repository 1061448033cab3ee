#!/usr/bin/env python3
"""Writes down every frame that the peers put on the ring's links.

    recorder.py --ports PREFIX --tcp PORT FILE

Runs in the namespace of the switch. A frame is taken where it comes in from a peer (an interface whose name begins with
PREFIX), so each is there once, when its sender let go of it, whatever becomes of it later. FILE is in the pcap format
with nanoseconds. Prints "ready", then, ended by SIGTERM, how many frames it wrote and how many the kernel had no room
for: "frames N dropped M".
"""

import argparse
import signal
import socket
import struct
import time

ETH_P_ALL = 0x0003
SO_TIMESTAMPNS = 35
SO_RCVBUFFORCE = 33
SOL_PACKET = 263
PACKET_STATISTICS = 6
FRAME_MAX = 1 << 18  # the kernel passes on segments that are not cut yet
ROOM = 64 << 20  # bytes that may wait for this program
LOOKS_UP = 0.2  # seconds without a frame after which it looks whether it is to end
PCAP_HEAD = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, FRAME_MAX, 1)  # 1: Ethernet


def wanted(frame, port):
    """Whether it is IPv4 and TCP, from or to the port."""
    if len(frame) < 34 or frame[12:14] != b"\x08\x00" or frame[23] != 6:
        return False
    tcp = 14 + (frame[14] & 15) * 4
    return len(frame) >= tcp + 4 and port in struct.unpack_from("!HH", frame, tcp)


def stamp(ancillary):
    """Nanoseconds since 1970 at which the kernel took the frame."""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            seconds, nanoseconds = struct.unpack("qq", data[:16])
            return seconds * 1_000_000_000 + nanoseconds
    return time.time_ns()


def record(tap, prefix, port, out, ended):
    """How many frames it wrote, until ended() says so."""
    frames = 0
    while not ended():
        try:
            frame, ancillary, _, sender = tap.recvmsg(FRAME_MAX, 64)
        except TimeoutError:
            continue
        name, _, kind = sender[:3]
        if kind == socket.PACKET_OUTGOING or not name.startswith(prefix) or not wanted(frame, port):
            continue
        at = stamp(ancillary)
        out.write(struct.pack("<IIII", at // 1_000_000_000, at % 1_000_000_000, len(frame), len(frame)) + frame)
        frames += 1
    return frames


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--ports", required=True, metavar="PREFIX", help="names of the switch's ports to peers")
    parser.add_argument("--tcp", type=int, required=True, metavar="PORT", help="the peers' port")
    options = parser.parse_args()

    # The signal only leaves word: an exception out of its handler can pass a "try" by, and can cut a frame in two.
    told = []
    signal.signal(signal.SIGTERM, lambda *_: told.append(True))
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    with tap, open(options.file, "wb") as out:
        tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
        tap.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        tap.settimeout(LOOKS_UP)
        out.write(PCAP_HEAD)
        print("ready", flush=True)
        frames = record(tap, options.ports, options.tcp, out, lambda: told)
        _, dropped = struct.unpack("II", tap.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        print(f"frames {frames} dropped {dropped}", flush=True)


if __name__ == "__main__":
    main()
