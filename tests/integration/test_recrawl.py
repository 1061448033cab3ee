"""Visiting again: conditional requests, 304, and what sitemaps say has changed; judged by a server that keeps count."""

import collections
import datetime
import email.utils
import http.server
import json
import threading
import time

import ring
import warcs


class Site:
    """Pages with ETags (or dates only, or nothing) and a sitemap; counts what each request asked and what it got."""

    def __init__(self):
        self.version = {"/": 1, "/tagged.html": 1, "/dated.html": 1, "/plain.html": 1, "/gone.html": 1}
        self.lastmod = {}
        self.endless = False  # two sitemaps name each other, changed now
        self.asked = []  # (path, status)
        self.conditions = []
        self.lock = threading.Lock()
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                site.answer(self)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def url(self, path="/"):
        return f"http://site.test:{self.port}{path}"

    def date(self, path):
        return email.utils.formatdate(1_700_000_000 + self.version[path], usegmt=True)

    def body(self, path):
        if path == "/robots.txt":
            return "text/plain", f"User-agent: *\nSitemap: {self.url('/sitemap.xml')}\n"
        if path in ("/sitemap.xml", "/other.xml") and self.endless:
            other = "/other.xml" if path == "/sitemap.xml" else "/sitemap.xml"
            now = datetime.datetime.now(datetime.timezone.utc).isoformat()
            rows = "".join(
                f"<url><loc>{self.url(at)}</loc><lastmod>{now}</lastmod></url>" for at in (other, "/plain.html")
            )
            return "application/xml", f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{rows}</urlset>"
        if path == "/sitemap.xml":
            rows = "".join(
                f"<url><loc>{self.url(at)}</loc>{f'<lastmod>{when}</lastmod>' if when else ''}</url>"
                for at, when in ((p, self.lastmod.get(p)) for p in sorted(self.version))
            )
            return "application/xml", f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{rows}</urlset>"
        links = "".join(f"<a href='{at}'>x</a>" for at in sorted(self.version)) if path == "/" else ""
        return "text/html", f"<html>{path} {self.version[path]}{links}</html>"

    def answer(self, request):
        path = request.path
        with self.lock:
            status, fields = 200, {}
            if path not in self.version and path not in ("/robots.txt", "/sitemap.xml", "/other.xml"):
                status, kind, text = 404, "text/plain", "gone"
            else:
                kind, text = self.body(path)
                tag = f'"{path}-{self.version[path]}"' if path in ("/", "/tagged.html", "/gone.html") else None
                if tag:
                    fields["ETag"] = tag
                if path == "/dated.html":
                    fields["Last-Modified"] = self.date(path)
                sent_tag = request.headers.get("If-None-Match")
                sent_date = request.headers.get("If-Modified-Since")
                self.conditions.append((path, sent_tag, sent_date))
                if (tag and sent_tag == tag) or (path == "/dated.html" and sent_date == self.date(path)):
                    status, text = 304, ""
            self.asked.append((path, status))
        body = text.encode()
        request.send_response(status)
        for name, value in fields.items():
            request.send_header(name, value)
        if status != 304:
            request.send_header("Content-Type", kind)
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def take(self):
        """What was asked since the last call, robots.txt left out."""
        with self.lock:
            asked = sorted(entry for entry in self.asked if entry[0] != "/robots.txt")
            self.asked.clear()
        return asked


class Recrawl(ring.Case):
    def setUp(self):
        super().setUp()
        self.site = Site()
        self.addCleanup(self.site.close)
        self.reach = ["--allow-private", "127.0.0.0/8", "--resolve", f"*:{self.site.port}:127.0.0.1"]

    def settled(self, nodes, asked):
        ring.wait_until("the walk has begun to ask", lambda: len(self.site.asked) >= asked)
        self.wait_for_rest(nodes)

    FIRST = [
        ("/", 200), ("/dated.html", 200), ("/gone.html", 200), ("/plain.html", 200), ("/sitemap.xml", 200),
        ("/tagged.html", 200),
    ]  # fmt: skip

    def recrawl(self, node, *more):
        self.ok("recrawl", "--peer", node.address, *node.key, *more)

    def test_unchanged_pages_answer_304_changed_ones_come_whole_and_all_is_archived(self):
        node = self.node("peer", self.site.url(), *ring.QUICK, *self.reach)
        self.wait_for_rest([node])
        self.assertEqual(self.site.take(), self.FIRST)
        self.site.version["/dated.html"] = 2
        del self.site.version["/gone.html"]
        self.recrawl(node)
        self.settled([node], 6)
        self.assertEqual(
            self.site.take(),
            [("/", 304), ("/dated.html", 200), ("/gone.html", 404), ("/plain.html", 200),
             ("/sitemap.xml", 200), ("/tagged.html", 304)],
        )  # fmt: skip
        unchanged = self.explain(node, self.site.url("/tagged.html"))
        self.assertEqual((unchanged["state"], unchanged["status"], unchanged["visit"]), ("fetched", 304, 2))
        self.assertEqual(unchanged["validator"], '"/tagged.html-1"')
        gone = self.explain(node, self.site.url("/gone.html"))
        self.assertEqual((gone["state"], gone["status"]), ("failed", 404))
        # A third visit asks by what the second brought.
        self.site.conditions.clear()
        self.recrawl(node, "--match", "(dated|tagged)")
        self.settled([node], 2)
        self.assertEqual(self.site.take(), [("/dated.html", 304), ("/tagged.html", 304)])
        self.recrawl(node, "--older-than", "1h")
        self.recrawl(node, "--host", "elsewhere.test")
        self.wait_for_rest([node])
        self.assertEqual(self.site.take(), [], "nothing is as old as that, or there")
        self.assertEqual(self.explain(node, self.site.url("/dated.html"))["visit"], 3)
        self.ok("stop", "--peer", node.address, *node.key)
        self.assertEqual(node.wait(), 0)
        tagged = self.site.url("/tagged.html")
        found = sorted(
            (fields["WARC-Date"], fields["WARC-Type"], fields.get("WARC-Profile", ""), "WARC-Payload-Digest" in fields)
            for path in node.directory.rglob("*.warc.gz")
            for fields, _ in warcs.records(path)
            if fields.get("WARC-Target-URI") == tagged and fields["WARC-Type"] != "request"
        )
        profile = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
        self.assertEqual(
            [entry[1:] for entry in found],
            [("response", "", True), ("revisit", profile, False), ("revisit", profile, False)],
        )

    @staticmethod
    def soon():
        """The next full second, once it has come: dates are read in whole seconds."""
        when = int(time.time()) + 1
        ring.wait_until("the second is over", lambda: time.time() >= when)
        return datetime.datetime.fromtimestamp(when, datetime.timezone.utc).isoformat()

    def test_a_sitemap_read_again_names_what_has_changed_on_any_peer(self):
        first = self.node("a", self.site.url(), "--wait-for-peers", 3, *ring.QUICK, *self.reach)
        nodes = [first, *(self.node(name, "--join", first.address, *self.reach) for name in "bc")]
        self.wait_for_rest(nodes)
        self.assertEqual(self.site.take(), self.FIRST, "dates of the first visit make nobody ask twice")
        self.site.lastmod = {"/plain.html": "2099-01-01", "/dated.html": "2020-01-01", "/tagged.html": self.soon()}
        self.recrawl(first, "--match", r"sitemap\.xml$")
        self.settled(nodes, 2)
        self.assertEqual(self.site.take(), [("/sitemap.xml", 200), ("/tagged.html", 304)])

    @ring.about(10)
    def test_sitemaps_that_name_each_other_as_just_changed_end(self):
        self.site.endless = True
        arguments = [self.site.url(), "--out", self.dir / "crawl", "--json", "--delay", "1s", *self.reach]
        self.assertTrue(json.loads(self.ok("crawl", *arguments))["finished"])
        first = collections.Counter(path for path, _ in self.site.take())
        self.assertEqual(set(first.values()), {1}, first)
        self.assertTrue(json.loads(self.ok("crawl", *arguments, "--recrawl", "0s"))["finished"])
        again = collections.Counter(path for path, _ in self.site.take())
        self.assertEqual(again, first, "a page goes no further than the visit of the sitemap that names it")

    def test_a_crawl_that_has_ended_is_visited_again(self):
        arguments = [self.site.url(), "--out", self.dir / "crawl", "--json", *ring.QUICK, *self.reach, "--peers", 2]
        summary = json.loads(self.ok("crawl", *arguments))
        self.assertTrue(summary["finished"])
        self.assertEqual(self.site.take(), self.FIRST)
        self.assertTrue(json.loads(self.ok("crawl", *arguments))["finished"])
        self.assertEqual(self.site.take(), [], "it had ended")
        summary = json.loads(self.ok("crawl", *arguments, "--recrawl", "0s"))
        self.assertTrue(summary["finished"])
        self.assertEqual([path for path, _ in self.site.take()], [path for path, _ in self.FIRST])
        # Its directories take the order while no peer runs.
        self.assertIn("2 peers know it, and act by it", self.ok("recrawl", "--dir", self.dir / "crawl"))
        self.assertTrue(json.loads(self.ok("crawl", *arguments))["finished"])
        self.assertEqual([path for path, _ in self.site.take()], [path for path, _ in self.FIRST])

    def test_bad_input(self):
        self.refused(3, ["--older-than", "soon"], "recrawl", "--older-than", "soon")
        self.refused(3, ["--match", "("], "recrawl", "--match", "(")
