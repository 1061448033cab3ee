"""Pages of hundreds of thousands of links: the other hosts are asked all the time while these are read and their links
are written."""

import http.server
import threading
import time

import ring

LINKS = 400_000
CHAINS = 8  # hosts, on each of which a page leads to the next
PARTS = 5  # of the time that the huge pages take


class Web:
    """Knows when each huge page was handed out, when the first page that it leads to was asked for, and when pages of
    the chains were."""

    def __init__(self, count):
        self.hosts = [f"huge-{i}.test" for i in range(count)]
        self.huge = b"<title>All</title>" + b"".join(b'<a href="/page-%d">%d</a>\n' % (i, i) for i in range(LINKS))
        self.sent = {}
        self.led_on = {}
        self.asked = []
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # pylint: disable=invalid-name
                host = self.headers["Host"].split(":")[0]
                now = time.monotonic()
                if self.path == "/robots.txt":
                    self.answer(404, b"")
                elif host not in web.hosts:
                    web.asked.append(now)
                    self.answer(200, b'<a href="/%d">on</a>' % (int(self.path[1:] or 0) + 1))
                elif self.path == "/":
                    self.answer(200, web.huge)
                    web.sent[host] = time.monotonic()
                else:
                    web.led_on.setdefault(host, now)
                    self.answer(404, b"")

            def answer(self, status, body):
                head = f"HTTP/1.1 {status} x\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
                self.wfile.write(head.encode() + body)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        hosts = [*(f"chain-{i}.test" for i in range(CHAINS)), *self.hosts]
        self.seeds = [f"http://{host}:{self.port}/" for host in hosts]
        self.reach = ["--resolve", f"*:{self.port}:127.0.0.1", "--allow-private", "127.0.0.0/8"]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class HugePage(ring.Case):
    def check(self, count, *arguments):
        web = Web(count)
        self.addCleanup(web.close)
        # On a fast machine the chains would end at trap_depth and trap_budget, 301 pages, before the huge pages do.
        self.start_crawl(web, "--trap-depth", 60_000, *arguments, scope="host")
        ring.wait_until("pages that the huge ones lead to are asked for", lambda: len(web.led_on) == count)
        first, last = min(web.sent.values()), max(web.led_on.values())
        meanwhile = [0] * PARTS
        for at in list(web.asked):
            if first <= at < last:
                meanwhile[int((at - first) / (last - first) * PARTS)] += 1
        self.assertTrue(all(meanwhile), f"requests to other hosts, in {PARTS} parts of {last - first:.2f} s: {meanwhile}")

    @ring.about(10)
    def test_other_hosts_are_asked_while_two_are_read(self):
        self.check(2)  # of one, a fifth of the time is less than the pause of 100 ms that a commit may take

    @ring.about(15)
    def test_other_hosts_are_asked_while_many_are_read(self):
        self.check(6)
