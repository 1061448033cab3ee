"""Hosts whose robots.txt are as large as they may be: a wildcard domain has any number of them."""

import gzip
import http.server
import json
import socketserver
import sys
import threading

import ring

HOSTS = 600  # of each kind
BYTES = 500 * 1024  # what is read of a robots.txt
LINES = b"".join(b"Disallow: /@@@@@@@@/%06d\n" % i for i in range(BYTES // 26))


class Wildcard(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """d0001.wild.test has rules of its own, s0001.wild.test the same as all of its kind, compressed to a kilobyte. One
    rule of each forbids /no; the seed links two pages of every host, and what is forbidden."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self):
        self.asked = []  # (host, path)
        self.same = gzip.compress((b"User-agent: *\nDisallow: /no\n" + b"Disallow: /again\n" * 31000)[:BYTES], 9)
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status, body, kind, coding=None):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                if coding:
                    self.send_header("Content-Encoding", coding)
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):  # pylint: disable=invalid-name
                host = self.headers["Host"].split(":")[0].split(".")[0]
                server.asked.append((host, self.path))
                if self.path == "/robots.txt" and host.startswith("d"):
                    rules = b"User-agent: *\nDisallow: /no\n" + LINES.replace(b"@@@@@@@@", host.encode().ljust(8, b"-"))
                    return self.answer(200, rules, "text/plain")
                if self.path == "/robots.txt" and host.startswith("s"):
                    return self.answer(200, server.same, "text/plain", "gzip")
                if self.path == "/":
                    return self.answer(200, server.index(), "text/html")
                return self.answer(200, b"<p>a page", "text/html")

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.port = self.server_address[1]
        self.reach = ["--resolve", f"*:{self.port}:127.0.0.1", "--allow-private", "127.0.0.1/32"]
        self.seeds = [f"http://index.wild.test:{self.port}/"]
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    def handle_error(self, request, client_address):
        """A crawler may hang up whenever it likes."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def hosts(self):
        return [f"{kind}{i:04}" for kind in "ds" for i in range(HOSTS)]

    def index(self):
        """All hosts' first pages, then all second ones, and the forbidden ones."""
        pages = [f"http://{h}.wild.test:{self.port}/{p}" for p in ("one", "two", "no/x") for h in self.hosts()]
        return "".join(f'<a href="{page}">' for page in pages).encode()


class Dripping(http.server.ThreadingHTTPServer):
    """Its robots.txt comes a little at a time, too fast for low_speed, and has no end; what else is asked for is a page."""

    daemon_threads = True

    def __init__(self):
        self.hung_up = threading.Event()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                self.send_response(200)
                self.send_header("Content-Type", "text/plain")
                self.end_headers()
                try:
                    while self.path == "/robots.txt" and not server.hung_up.wait(0.01):
                        self.wfile.write(b"# more to come\n")
                except OSError:
                    server.hung_up.set()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://drip.test:{self.server_address[1]}/"
        self.reach = ["--resolve", f"*:{self.server_address[1]}:127.0.0.1", "--allow-private", "127.0.0.1/32"]
        threading.Thread(target=self.serve_forever, daemon=True).start()


class SlowRobots(ring.Case):
    def test_a_robots_txt_has_a_time_limit_of_its_own(self):
        web = Dripping()
        self.addCleanup(web.server_close)
        self.addCleanup(web.shutdown)
        self.addCleanup(web.hung_up.set)
        node = self.node(
            "peer", web.url, "--max-retries", "0", "--fetch-timeout", "24h", "--robots-timeout", "300ms", *web.reach
        )  # fmt: skip
        ring.wait_until("its page is excluded", lambda: self.own_status(node)["counts"]["excluded"] == 1)
        self.assertTrue(web.hung_up.wait(ring.PATIENCE))
        self.assertEqual(self.explain(node, web.url)["reason"], "robots_timeout")


class LargeRobots(ring.Case):
    @ring.about(60)
    def test_rules_of_many_hosts_keep_their_share_of_the_memory(self):
        web = Wildcard()
        self.addCleanup(web.server_close)
        self.addCleanup(web.shutdown)
        node = self.node(
            "peer",
            web.seeds[0], "--scope", "any",
            "--archive", "off", "--delay", "0s", "--max-memory", "512MiB", "--max-depth", "1", *web.reach,
        )  # fmt: skip
        seen = []

        def done():
            status = self.own_status(node)
            seen.append(status["published_us"])
            robots = status["robots"]
            self.assertLessEqual(robots["bytes"], robots["max_bytes"])
            return status["counts"]["fetched"] == 1 + 4 * HOSTS

        ring.wait_until("every allowed page is fetched", done, 300, every=0.2)
        status = self.own_status(node)
        robots = status["robots"]
        gaps = [(b - a) / 1e6 for a, b in zip(seen, seen[1:])]
        print(json.dumps({**robots, "peak_mib": ring.high_water_kib(node.pid) // 1024, "longest_silence_s": max(gaps)}))
        self.assertEqual(sum(path == "/robots.txt" for _, path in web.asked), 2 * HOSTS + 1, "each file once")
        self.assertEqual([a for a in web.asked if a[1].startswith("/no")], [], "what the rules forbid")
        self.assertEqual(status["counts"]["excluded"], 2 * HOSTS)
        self.assertGreaterEqual(robots["shared"], HOSTS - 1)
        # There is no room for all: their hosts' second pages wait for a worker that parses them again.
        self.assertGreater(robots["files"] + robots["dropped"], HOSTS)
        self.assertGreater(robots["dropped"], 0)
        self.assertGreater(robots["parsed_again"], 0)
        # 2.2 GB before: 3.5 MB for each of them.
        self.assertLess(ring.high_water_kib(node.pid), 700 * 1024)
