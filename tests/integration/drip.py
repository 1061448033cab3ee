"""A web of good hosts and of hosts that drip, on addresses of their own, counted at the server.

Names go to addresses by --resolve, one entry a port: each address listens on a port of its own there.
"""
import collections
import selectors
import socket
import threading
import time

GOOD = "127.1.1.1"


class Drip:
    """`good` hosts with `pages` small pages each, in as many domains, and `slow` names of one wildcard domain (or, with
    one_domain=False, of a domain each) on `addresses` addresses of one network, which send `rate` bytes a second of
    every answer, robots.txt too, without an end."""

    def __init__(self, good, pages, slow, addresses=8, rate=100, one_domain=True):
        self.rate = rate
        self.pages = pages  # that a good host has; pages and robots.txt are answered at once
        self.answered = collections.Counter()  # pages by good host
        self.times = []  # of all requests to good hosts
        self.beats = []  # of the requests of metronome.py
        self.lock = threading.Lock()
        self.selector = selectors.DefaultSelector()
        self.dripping = {}  # socket: when the next byte is due
        self.most_dripping = 0
        self.done = False
        self.seeds, self.resolve = [], []
        self.listeners = {}
        port = self.listen(GOOD, True)
        for number in range(good):
            self.seeds.append(f"http://www.good-{number}.test:{port}/0")
        self.port = port
        ports = [self.listen(f"127.99.99.{1 + number}", False) for number in range(addresses)]
        for number in range(slow):
            domain = "drip.test" if one_domain else f"drip-{number}.test"
            self.seeds.append(f"http://w{number}.{domain}:{ports[number % addresses]}/0")

    def listen(self, address, is_good):
        listener = socket.create_server((address, 0), backlog=1024)
        listener.setblocking(False)
        self.listeners[listener] = is_good
        self.selector.register(listener, selectors.EVENT_READ)
        port = listener.getsockname()[1]
        self.resolve += ["--resolve", f"*:{port}:{address}"]
        return port

    def reply(self, path):
        if path == "/robots.txt":
            return "404 Not Found", b"none"
        following = range(int(path[1:]) + 1, min(self.pages, int(path[1:]) + 3))
        return "200 OK", "".join(f'<a href="/{page}">x</a>' for page in following).encode()

    def read(self, connection, is_good):
        try:
            data = connection.recv(65536)
        except OSError:
            data = b""
        if not data:
            self.dripping.pop(connection, None)
            self.selector.unregister(connection)
            connection.close()
            return
        if not is_good:
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 400000\r\n\r\n")
            self.dripping[connection] = time.monotonic()
            self.most_dripping = max(self.most_dripping, len(self.dripping))
            return
        at = time.monotonic()
        # Requests are small and come one at a time.
        lines = data.decode("latin-1").split("\r\n")
        path = lines[0].split()[1]
        host = next(line[6:] for line in lines if line.lower().startswith("host: "))
        status, body = self.reply(path)
        connection.send(
            f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        )
        with self.lock:
            if host == "metronome":
                self.beats.append(at)
                return
            self.times.append(at)
            if path != "/robots.txt":
                self.answered[host] += 1

    def turn(self):
        for key, _ in self.selector.select(0.1):
            if key.fileobj not in self.listeners:
                self.read(key.fileobj, key.data)
                continue
            connection, _ = key.fileobj.accept()
            connection.setblocking(False)
            self.selector.register(connection, selectors.EVENT_READ, self.listeners[key.fileobj])
        now = time.monotonic()
        for connection, due in list(self.dripping.items()):
            if due > now:
                continue
            try:
                connection.send(b"x" * max(1, self.rate // 2))
                self.dripping[connection] = now + 0.5
            except OSError:
                del self.dripping[connection]

    def run(self):
        while not self.done:
            self.turn()

    def good_pages(self):
        with self.lock:
            return sum(self.answered.values())

    def __enter__(self):
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done = True
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()
