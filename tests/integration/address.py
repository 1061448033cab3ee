"""A web whose hosts share one address, with the time of every request at the server."""
import http.server
import threading
import time

# Between the moment that a peer begins a request and the one in which the server sees it: two threads of a busy machine.
JITTER = 0.1


class Address:
    def __init__(self, hosts, pages):
        self.names = [f"h{number}.address.test" for number in range(hosts)]
        self.count = pages
        self.requests = []  # (time, host, path)
        self.lock = threading.Lock()
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # pylint: disable=invalid-name
                host = self.headers["Host"].split(":")[0]
                with web.lock:
                    web.requests.append((time.monotonic(), host, self.path))
                target = web.redirect(host, self.path)
                if target is not None:
                    self.send_response(302)
                    self.send_header("Location", target)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                found = self.path != "/robots.txt"
                body = web.page(host) if found else b"none"
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.seeds = [f"http://{self.names[0]}:{self.port}/0"]
        self.resolve = f"*:{self.port}:127.0.0.1"

    # For a subclass: a status and a Location that take the page's place.
    def redirect(self, host, path):  # pylint: disable=unused-argument
        return None

    def page(self, host):
        following = self.names[(self.names.index(host) + 1) % len(self.names)]
        links = [f"/{number}" for number in range(self.count)] + [f"http://{following}:{self.port}/0"]
        return "".join(f'<a href="{link}">x</a>' for link in links).encode()

    def pages(self):
        with self.lock:
            return [(host, path) for _, host, path in self.requests if path != "/robots.txt"]

    def smallest_gap(self):
        with self.lock:
            times = sorted(at for at, _, _ in self.requests)
        return min(b - a for a, b in zip(times, times[1:]))

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
