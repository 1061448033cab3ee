"""A name server on loopback that answers as its table says: UDP and TCP, with packets made by hand (RFC 1035)."""

import contextlib
import socket
import struct
import threading

A, AAAA, SOA, CNAME = 1, 28, 6, 5
NXDOMAIN, SERVFAIL, REFUSED = 3, 2, 5


def name_bytes(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.strip(".").split(".")) + b"\0"


def record(kind, ttl, data):
    """Its name is the question's."""
    return b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data


def address(text, ttl=60):
    if ":" in text:
        return record(AAAA, ttl, socket.inet_pton(socket.AF_INET6, text))
    return record(A, ttl, socket.inet_aton(text))


def soa(ttl, minimum):
    return record(SOA, ttl, name_bytes("ns.test") + name_bytes("root.test") + struct.pack(">IIIII", 1, 2, 3, 4, minimum))


def both_on_one_port():
    """A UDP socket and a TCP listener at a port that is free for both."""
    for _ in range(100):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        try:
            return udp, socket.create_server(udp.getsockname())
        except OSError:
            udp.close()
    raise AssertionError("no port is free for both UDP and TCP")


class NameServer:
    """`answer(name, kind, count)` returns a dict: records=[…], rcode, authority=[…], silent, truncate, rubbish; `count`
    is how often that was asked before."""

    def __init__(self, case, answer, at_once=False):
        self.at_once = at_once  # a thread for each question
        self.answer = answer
        self.lock = threading.Lock()
        self.asked = {}  # (name, kind) -> count
        self.by_tcp = []
        self.udp, self.tcp = both_on_one_port()
        self.port = self.udp.getsockname()[1]
        self.over = False
        for loop in (self._udp, self._tcp):
            threading.Thread(target=loop, daemon=True).start()
        case.addCleanup(self.close)

    def close(self):
        self.over = True
        self.udp.close()
        self.tcp.close()

    @property
    def setting(self):
        return ["--dns-servers", f"127.0.0.1:{self.port}"]

    def count(self, name, kind=A):
        with self.lock:
            return self.asked.get((name, kind), 0)

    def _reply(self, query, tcp):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1 : at + 1 + query[at]].decode())
            at += 1 + query[at]
        name, kind = ".".join(labels).lower(), struct.unpack(">H", query[at + 1 : at + 3])[0]
        with self.lock:
            count = self.asked.get((name, kind), 0)
            self.asked[(name, kind)] = count + 1
            if tcp:
                self.by_tcp.append(name)
        told = self.answer(name, kind, count)
        if told.get("silent"):
            return None
        if told.get("rubbish"):
            return query[:2] + told["rubbish"]
        truncated = told.get("truncate") and not tcp
        records = [] if truncated else told.get("records", [])
        authority = told.get("authority", [])
        flags = 0x8180 | (0x0200 if truncated else 0) | told.get("rcode", 0)
        head = query[:2] + struct.pack(">HHHHH", flags, 1, len(records), len(authority), 0)
        return head + query[12 : at + 5] + b"".join(records) + b"".join(authority)

    def _udp(self):
        while not self.over:
            try:
                query, peer = self.udp.recvfrom(4096)
            except OSError:
                return
            if self.at_once:
                threading.Thread(target=self._answer, args=(query, peer), daemon=True).start()
            else:
                self._answer(query, peer)

    def _answer(self, query, peer):
        with contextlib.suppress(OSError, IndexError, struct.error):
            reply = self._reply(query, False)
            if reply:
                self.udp.sendto(reply, peer)

    def _tcp(self):
        while not self.over:
            try:
                sock, _ = self.tcp.accept()
            except OSError:
                return
            threading.Thread(target=self._tcp_client, args=(sock,), daemon=True).start()

    def _tcp_client(self, sock):
        with sock:
            sock.settimeout(20)
            try:
                while len(head := sock.recv(2)) == 2:
                    reply = self._reply(sock.recv(struct.unpack(">H", head)[0]), True)
                    if reply:
                        sock.sendall(struct.pack(">H", len(reply)) + reply)
            except OSError:
                pass
