#!/usr/bin/env python3
"""A server that misbehaves on purpose: one path for each way in which an HTTP server can be wrong, slow or hostile.

Usage: badserver.py [--listen ADDRESS] [--port N] [--ready FILE]
Prints one JSON line when it serves: {"ready":true,"port":P,"deaf_port":P2,"address":A,"index":URL,"hosts":URL}.
Ends on SIGTERM and SIGINT.

  /             links every behaviour as a path of this host
  /hosts        links every behaviour as http://b05-head.bad.test:PORT/B05/head, a host each, so that one that hangs
                holds up no other; the crawler needs every name resolved to this address (--resolve '*:PORT:ADDRESS')
  /B05/head     one behaviour; the names are those of the list of server behaviours that the crawler is held against
  /ok/NAME      what a page links when its links are meant to be found
  /fake/NAME    what stands where no link is: asked for means misread
  /behaviours   JSON: {path: {"outcome": "ok" | "fail" | "either", "link": "/ok/…" or null, "what": …}}
  /stats        JSON: {"requests": {path: count}, "gaps": {path: [seconds]}, "connections": N, "open": N}; /reset starts the counts afresh

Outcomes: ok, the page is fetched and its link found; fail, no page results (or one marked as cut); either, both are
right so long as the crawler neither crashes nor hangs nor grows. One thread a connection; every endless behaviour ends
when the client goes away.
"""

import argparse
import json
import os
import select
import signal
import socket
import sys
import threading
import time

from bad_behaviours import BEHAVIOURS, redirect_more
from bad_more import CLOSED_HOST, ENDLESS, endless_more

HEAD_MAX = 65536  # bytes of a request's head


class Gone(Exception):
    """The client went away."""


class Connection:
    def __init__(self, sock, server):
        self.sock = sock
        self.server = server
        self.buffer = b""
        self.served = 0  # requests answered on it before this one
        self.path = ""
        self.host = ""
        self.cookie = ""
        self.method = "GET"
        self.keep = True

    def read_head(self):
        """The next request's head; False when there is none."""
        while b"\r\n\r\n" not in self.buffer:
            if len(self.buffer) > HEAD_MAX:
                return False
            try:
                got = self.sock.recv(16384)
            except OSError:
                return False
            if not got:
                return False
            self.buffer += got
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        words = head.split(b"\r\n")[0].decode("latin-1").split(" ")
        if len(words) < 2:
            return False
        self.method, self.path = words[0], words[1]
        fields = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n")[1:] if ": " in line)
        self.host = fields.get("Host", "").rsplit(":", 1)[0]
        self.cookie = fields.get("Cookie", "")
        return True

    def send(self, data):
        if isinstance(data, str):
            data = data.encode("latin-1")
        try:
            self.sock.sendall(data)
        except OSError as error:
            raise Gone from error

    def head(self, *lines, status="200 OK", close=True, type_="text/html"):
        out = [f"HTTP/1.1 {status}"]
        if type_:
            out.append(f"Content-Type: {type_}")
        out += lines
        if close:
            out.append("Connection: close")
            self.keep = False
        self.send("\r\n".join(out) + "\r\n\r\n")

    def whole(self, body, *lines, **more):
        self.head(f"Content-Length: {len(body)}", *lines, **more)
        self.send(body)

    def chunk(self, data, extension=""):
        self.send(b"%x%s\r\n%s\r\n" % (len(data), extension.encode(), data))

    def pause(self, seconds):
        """Waits, but no longer than the client stays."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            readable, _, _ = select.select([self.sock], [], [], left)
            if not readable:
                return
            try:
                got = self.sock.recv(4096)
            except OSError as error:
                raise Gone from error
            if not got:
                raise Gone
            self.buffer = (self.buffer + got)[:HEAD_MAX]

    def hang(self):
        self.keep = False
        self.pause(86400)

    def trickle(self, data, seconds=1.0):
        for byte in data:
            self.send(bytes([byte]))
            self.pause(seconds)

    def link(self):
        return BEHAVIOURS[self.path.split("?")[0]][2] or "/fake" + self.path


class Server:
    def __init__(self, address, port):
        self.address = address
        self.listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((address, port))
        self.listener.listen(512)
        self.port = self.listener.getsockname()[1]
        self.name = f"{address}:{self.port}"
        self.lock = threading.Lock()
        self.requests = {}
        self.times = {}
        self.connections = 0
        self.open = 0
        self.make_deaf()

    def make_deaf(self):
        """B01: a port that listens with its queue full, so that a connection is never made."""
        self.deaf = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.deaf.bind((self.address, 0))
        self.deaf.listen(0)
        self.deaf_port = self.deaf.getsockname()[1]
        self.fillers = []
        for _ in range(4):
            filler = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            filler.setblocking(False)
            filler.connect_ex((self.address, self.deaf_port))
            self.fillers.append(filler)

    def run(self):
        while True:
            sock, _ = self.listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

    def serve(self, sock):
        with self.lock:
            self.connections += 1
            self.open += 1
        connection = Connection(sock, self)
        try:
            while connection.keep and connection.read_head():
                self.answer(connection)
                connection.served += 1
        except Gone:
            pass
        finally:
            sock.close()
            with self.lock:
                self.open -= 1

    def answer(self, c):
        path = c.path.split("?")[0]
        if path not in ("/stats", "/reset", "/behaviours"):
            with self.lock:
                if len(self.requests) < 100_000:
                    self.requests[path] = self.requests.get(path, 0) + 1
                    self.times.setdefault(path, []).append(time.monotonic())
        if path in BEHAVIOURS:
            function, _, _, _ = BEHAVIOURS[path]
            function(c, path[5:])
        elif path.startswith("/B40-more/"):
            redirect_more(c)
        elif path.startswith(ENDLESS):
            endless_more(c)
        elif path == "/robots.txt" and c.host == CLOSED_HOST:
            c.whole(b"User-agent: *\nDisallow: /\n", type_="text/plain", close=False)
        elif path.startswith("/ok/"):
            c.whole(b"<!DOCTYPE html><title>Fine</title><p>Fine.\n", close=False)
        elif path in ("/", "/hosts"):
            c.whole(self.index(path == "/hosts"), close=False)
        elif path == "/behaviours":
            table = {p: {"outcome": o, "link": l, "what": w} for p, (_, o, l, w) in BEHAVIOURS.items()}
            deaf = f"http://{self.address}:{self.deaf_port}/B01"
            table[deaf] = {"outcome": "fail", "link": None, "what": "no accept"}
            c.whole(json.dumps(table).encode(), close=False, type_="application/json")
        elif path == "/stats":
            with self.lock:
                gaps = {p: [b - a for a, b in zip(t, t[1:])] for p, t in self.times.items() if len(t) > 1}
                stats = {"requests": dict(self.requests), "gaps": gaps, "connections": self.connections, "open": self.open}
            c.whole(json.dumps(stats).encode(), close=False, type_="application/json")
        elif path == "/reset":
            with self.lock:
                self.requests.clear()
                self.times.clear()
                self.connections = 0
            c.whole(b"{}", close=False, type_="application/json")
        else:
            c.whole(b"<!DOCTYPE html><title>Not here</title>\n", status="404 Not Found", close=False)

    def index(self, by_host):
        out = ["<!DOCTYPE html><title>Misbehaviours</title><ul>"]
        for path, (_, outcome, _, what) in BEHAVIOURS.items():
            host = f"http://{path[1:4].lower()}{path[4:].replace('/', '-')}.bad.test:{self.port}" if by_host else ""
            out.append(f"<li><a href=\"{host}{path}\">{path}</a> ({outcome}) {what}</li>")
        deaf = f"http://{self.address}:{self.deaf_port}/B01"
        out.append(f"<li><a href=\"{deaf}\">B01</a> (fail) never accepts</li></ul>\n")
        return "\n".join(out).encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--listen", default="127.0.0.1", metavar="ADDRESS")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ready", default="", metavar="FILE", help="the ready line is written there too")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    try:
        server = Server(options.listen, options.port)
    except OSError as error:
        sys.exit(f"badserver: cannot listen on {options.listen}:{options.port}: {error.strerror}")
    base = f"http://{options.listen}:{server.port}"
    line = json.dumps(
        {
            "ready": True,
            "port": server.port,
            "deaf_port": server.deaf_port,
            "address": options.listen,
            "index": base + "/",
            "hosts": base + "/hosts",
        }
    )
    print(line, flush=True)
    if options.ready:
        with open(options.ready + ".tmp", "w", encoding="utf-8") as out:
            out.write(line + "\n")
        os.replace(options.ready + ".tmp", options.ready)
    server.run()


if __name__ == "__main__":
    main()
