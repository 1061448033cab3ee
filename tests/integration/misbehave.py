"""Servers for tests of what the world may send: badserver.py as a process, and a small one inside the test."""

import contextlib
import gzip
import http.server
import json
import pathlib
import socket
import struct
import sys
import threading

import ring


class BadServer(ring.Process):
    """badserver.py: one path, and one host name, for each misbehaviour."""

    def __init__(self, directory):
        ready = pathlib.Path(directory) / "bad.ready"
        super().__init__([sys.executable, "-B", ring.HERE / "badserver.py", "--ready", ready], directory, "badserver")
        ring.wait_until("the bad server is ready", lambda: ready.exists() or not self.running())
        told = json.loads(ready.read_text(encoding="utf-8"))
        self.port, self.deaf_port = told["port"], told["deaf_port"]
        self.reach = ["--resolve", f"*:{self.port}:127.0.0.1", "--allow-private", "127.0.0.1/32"]

    def ask(self, path):
        return ring.get_json(f"http://127.0.0.1:{self.port}{path}")

    def behaviours(self):
        return self.ask("/behaviours")

    def requests(self):
        return self.ask("/stats")["requests"]

    def url(self, path):
        """A behaviour's, at the host of its own that /hosts links."""
        if path.startswith("http"):
            return path
        return f"http://{path[1:4].lower()}{path[4:].replace('/', '-')}.bad.test:{self.port}{path}"


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers as the server's `answer(handler, host, path)` says; counts requests by host and path."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):  # pylint: disable=invalid-name
        host = self.headers.get("Host", "").rsplit(":", 1)[0]
        with self.server.lock:
            key = host + self.path
            self.server.requests[key] = self.server.requests.get(key, 0) + 1
        with contextlib.suppress(OSError):
            self.server.answer(self, host, self.path)

    def whole(self, body, status=200, type_="text/html", **headers):
        self.send_response(status)
        self.send_header("Content-Type", type_)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def endless(self, block, type_="text/plain"):
        self.send_response(200)
        self.send_header("Content-Type", type_)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        while not self.server.over.is_set():
            self.wfile.write(block)

    def cut(self):
        """Resets the connection."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def silence(self):
        self.close_connection = True
        self.server.over.wait(120)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


class Listener(http.server.ThreadingHTTPServer):
    """For many clients at once, of which some hang up."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, *_):  # pylint: disable=arguments-differ
        pass


def packed(data):
    return gzip.compress(data)


class SmallServer:
    """A server inside the test, at an address of the loopback network."""

    def __init__(self, case, answer, address="127.0.0.1"):
        self.server = Listener((address, 0), Answers)
        self.server.answer = answer
        self.server.lock = threading.Lock()
        self.server.over = threading.Event()
        self.server.requests = {}
        self.address = address
        self.port = self.server.server_address[1]
        self.reach = ["--resolve", f"*:{self.port}:{address}", "--allow-private", f"{address}/32"]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        case.addCleanup(self.close)

    def close(self):
        self.server.over.set()
        self.server.shutdown()
        self.server.server_close()

    def requests(self):
        with self.server.lock:
            return dict(self.server.requests)

    def url(self, host, path="/"):
        return f"http://{host}:{self.port}{path}"
