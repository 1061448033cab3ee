"""`orbweaver report` and `orbweaver retry`: which URLs failed or were kept out, and asking for them again; from a ring
that runs and from a directory."""

import csv
import io
import json
import re
import signal
import threading

import misbehave
import ring


class Sites:
    """Two hosts whose front page links to pages; what is in `broken` is answered with its status."""

    def __init__(self, case, pages=6):
        self.pages = pages
        self.broken = {}  # (host, path): status
        self.lock = threading.Lock()
        self.server = misbehave.SmallServer(case, self.answer)
        self.reach = self.server.reach

    def url(self, host, path="/"):
        return self.server.url(host, path)

    def answer(self, handler, host, path):
        host = host.split(":")[0]
        if path == "/robots.txt":
            return handler.whole(b"User-agent: *\nDisallow: /private\n")
        with self.lock:
            status = self.broken.get((host, path), 200)
        if status != 200:
            return handler.whole(b"broken", status)
        if path != "/":
            return handler.whole(b"<!DOCTYPE html><title>page</title>")
        links = "".join(f"<a href='/p{i}'>p</a>" for i in range(self.pages))
        return handler.whole(f"<!DOCTYPE html><a href='/private/x'>x</a>{links}".encode())

    def break_pages(self, host, status, count):
        with self.lock:
            for i in range(count):
                self.broken[(host, f"/p{i}")] = status

    def mend(self):
        with self.lock:
            self.broken.clear()


class NeedsBrowser(ring.Case):
    SHELL = b"""<!doctype html><html><head><title>Shop</title><script defer src="/main.js"></script></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>"""

    def crawl_shop(self, *more):
        def answer(handler, host, path):
            if path == "/robots.txt":
                return handler.whole(b"User-agent: *\nAllow: /\n")
            if host.startswith("shop") and path != "/":
                return handler.whole(self.SHELL)
            links = "".join(f"<a href='/p{i}'>page {i}</a> " for i in range(4))
            return handler.whole(f"<!DOCTYPE html><p>{'words ' * 60}</p>{links}".encode())

        server = misbehave.SmallServer(self, answer)
        seeds = [server.url("shop.test"), server.url("plain.test")]
        self.ok("crawl", *seeds, "--out", self.dir / "crawl", "--peers", 2, "--quiet", *ring.QUICK, *server.reach, *more)
        return server

    @ring.about(4)
    def test_pages_that_scripts_make_are_listed_from_the_archive(self):
        server = self.crawl_shop()
        where = ("--dir", self.dir / "crawl", "--quiet")
        lines = [json.loads(line) for line in
                 self.ok("report", "needs-browser", *where, "--format", "jsonl").splitlines()]
        self.assertEqual({line["url"] for line in lines}, {server.url("shop.test", f"/p{i}") for i in range(4)})
        for line in lines:
            self.assertEqual((line["reason"], line["status"], line["host"]), ("needs_browser", 200, "shop.test"))
            self.assertIn("scripts fill div#root; it asks for JavaScript", line["why"])
            self.assertRegex(line["when"], r"^\d{4}-\d\d-\d\dT")
        (host,) = [json.loads(line) for line in
                   self.ok("report", "needs-browser", *where, "--format", "jsonl", "--by", "host").splitlines()]
        self.assertEqual((host["host"], host["urls"]), ("shop.test", 4))
        self.assertEqual(self.ok("report", "needs-browser", *where, "--host", "plain.test"), "")
        # A seed file for Browsertrix Crawler: YAML, of which JSON is a part.
        head, *seeds = self.ok("report", "needs-browser", *where, "--format", "browsertrix").splitlines()
        self.assertEqual(head, "seeds:")
        told = [json.loads(line.removeprefix("  - ")) for line in seeds]
        self.assertEqual({seed["url"] for seed in told}, {line["url"] for line in lines})
        self.assertEqual({seed["scopeType"] for seed in told}, {"page"})
        self.refused(ring.INVALID_SETTING, ["leave out --by host"], "report", "needs-browser", *where,
                     "--format", "browsertrix", "--by", "host")  # fmt: skip

    @ring.about(3)
    def test_without_an_archive_it_says_so(self):
        self.crawl_shop("--archive", "off")
        self.refused(ring.INVALID_INPUT, ["no archive"], "report", "needs-browser", "--dir", self.dir / "crawl")


class Report(ring.Case):
    def lines(self, *arguments):
        code, out, err = self.run_it("report", *arguments, "--format", "jsonl")
        self.assertEqual(code, 0, err)
        return [json.loads(line) for line in out.splitlines()]

    def urls(self, *arguments):
        urls = [line["url"] for line in self.lines(*arguments)]
        self.assertEqual(len(urls), len(set(urls)), "a URL comes once")
        return set(urls)

    def crawl_arguments_of(self, sites):
        seeds = [sites.url("one.test"), sites.url("two.test")]
        return ["crawl", *seeds, "--out", self.dir / "crawl", "--json", "--max-retries", "0", *ring.QUICK, *sites.reach]

    def test_a_crawl_that_ended_is_reported_and_what_failed_is_asked_for_again(self):
        sites = Sites(self)
        sites.break_pages("one.test", 404, 4)
        sites.break_pages("two.test", 500, 2)
        crawl = [*self.crawl_arguments_of(sites), "--peers", 2]
        self.assertEqual(json.loads(self.ok(*crawl))["failed"], 6)
        where = ("--dir", self.dir / "crawl")

        summary = json.loads((self.dir / "crawl" / "summary.json").read_text(encoding="utf-8"))
        self.assertEqual((summary["failed"], summary["finished"], len(summary["peers"])), (6, True, 2))
        page = (self.dir / "crawl" / "summary.html").read_text(encoding="utf-8")
        self.assertIn("<h1>crawl ended: ", page)
        self.assertIn("the server answered 404", page)
        self.assertEqual(re.findall(r"(?:src|href|url\()", page), [], "it needs nothing else")
        self.assertIn("; crawl ended: ", self.run_it("report", "failed", *where)[2])

        gone = {sites.url("one.test", f"/p{i}") for i in range(4)}
        faulty = {sites.url("two.test", f"/p{i}") for i in range(2)}
        self.assertEqual(self.urls("failed", *where), gone | faulty)
        self.assertEqual(self.urls("failed", "--host", "two.test", *where), faulty)
        self.assertEqual(self.urls("failed", "--status", 404, *where), gone)
        self.assertEqual(self.urls("failed", "--match", "p[01]$", "--reason", "http_status", *where), {
            *(sites.url("one.test", f"/p{i}") for i in range(2)), *faulty,
        })  # fmt: skip
        one = next(line for line in self.lines("failed", *where) if line["url"] in gone)
        self.assertEqual(
            {name: one[name] for name in ("host", "state", "reason", "status", "attempts", "depth", "why")},
            {"host": "one.test", "state": "failed", "reason": "http_status", "status": 404, "attempts": 1, "depth": 1,
             "why": "the server answered 404"},
        )  # fmt: skip
        self.assertRegex(one["when"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        kept_out = {sites.url(host, "/private/x") for host in ("one.test", "two.test")}
        self.assertEqual(self.urls("excluded", *where), kept_out)
        self.assertEqual(self.urls("queued", *where), set())

        rows = list(csv.DictReader(io.StringIO(self.ok("report", "failed", "--format", "csv", *where))))
        self.assertEqual({row["url"] for row in rows}, gone | faulty)
        self.assertEqual({row["status"] for row in rows}, {"404", "500"})
        self.assertEqual({row["why"].split(";")[0] for row in rows}, {f"the server answered {n}" for n in (404, 500)})
        self.assertEqual(list(rows[0])[-1], "why")
        text = self.ok("report", "failed", *where)
        self.assertEqual({line.split()[-1] for line in text.splitlines()}, gone | faulty)
        by_host = self.lines("failed", "--by", "host", *where)
        self.assertEqual([(line["host"], line["urls"]) for line in by_host], [("one.test", 4), ("two.test", 2)])
        self.assertEqual(by_host[0]["causes"][0]["cause"], "http_status 404")

        sites.mend()
        self.assertIn("2 URLs will be asked for again", self.ok("retry", "failed", "--host", "two.test", *where))
        self.assertIn("no URL is to be asked", self.ok("retry", "failed", "--host", "three.test", *where))
        before = sites.server.requests()
        summary = json.loads(self.ok(*crawl))
        self.assertTrue(summary["finished"])
        self.assertEqual(summary["failed"], 4)
        after = sites.server.requests()
        asked = {key: count - before.get(key, 0) for key, count in after.items() if count != before.get(key, 0)}
        pages = {f"two.test/p{i}": 1 for i in range(2)}
        self.assertEqual({key: count for key, count in asked.items() if not key.endswith("/robots.txt")}, pages)
        self.assertEqual(self.urls("failed", *where), gone)

    def test_a_ring_that_runs_is_reported_and_asks_again(self):
        sites = Sites(self, pages=300)
        sites.break_pages("one.test", 410, 300)
        sites.break_pages("two.test", 403, 30)
        first = self.node("a", "--max-retries", "0", "--scope", "host", *ring.QUICK, *sites.reach)
        second = self.node("b", "--join", first.address, *sites.reach)
        self.wait_for_members([first, second], 2)
        self.ok("seed", "--peer", first.address, sites.url("one.test"), sites.url("two.test"))
        self.wait_for_rest([first, second])
        where = ("--peer", second.address)
        gone = {sites.url("one.test", f"/p{i}") for i in range(300)}
        refused = {sites.url("two.test", f"/p{i}") for i in range(30)}
        self.assertEqual(self.urls("failed", *where), gone | refused)
        self.assertEqual(self.urls("failed", "--dir", first.directory, "--host", "two.test"), refused)
        self.assertEqual(len(self.urls("fetched", *where)), 2 + 270)
        sites.mend()
        self.assertIn("what failed is asked for again; 2 peers know it", self.ok("retry", "failed", "--status", 410, *where))
        self.wait_for_rest([first, second])
        self.assertEqual(self.urls("failed", *where), refused)

    def test_what_a_rule_kept_out_is_judged_again(self):
        sites = Sites(self)
        crawl = [*self.crawl_arguments_of(sites), "--max-pages-per-host", "3"]
        self.ok(*crawl)
        where = ("--dir", self.dir / "crawl")
        spent = self.urls("excluded", "--reason", "budget", *where)
        self.assertGreaterEqual(len(spent), 6)
        self.ok("retry", "excluded", "--reason", "budget", *where)
        self.assertEqual(self.urls("queued", *where), set(), "the order waits for the peers")
        self.ok(*crawl)
        again = self.lines("excluded", "--reason", "budget", *where)
        self.assertEqual({line["url"]: line["visit"] for line in again}, {url: 2 for url in spent}, "judged again")

    def test_bad_input(self):
        sites = Sites(self)
        self.ok(*self.crawl_arguments_of(sites))
        where = ("--dir", self.dir / "crawl")
        self.refused(ring.INVALID_SETTING, ["lost not in"], "report", "lost", *where)
        self.refused(ring.INVALID_SETTING, ["--match"], "report", "failed", "--match", "(", *where)
        self.refused(ring.INVALID_SETTING, ["no reason 'tiemout'"], "retry", "failed", "--reason", "tiemout", *where)
        self.refused(ring.UNREACHABLE, ["no peer has run"], "report", "failed", "--dir", self.dir)
        self.refused(ring.UNREACHABLE, ["no peer has run"], "retry", "failed", "--dir", self.dir)


class Health(ring.Case):
    def health(self, directory):
        code, out, err = self.run_it("health", "--json", "--dir", directory)
        answer = json.loads(out)
        self.assertEqual(code, 0 if answer["healthy"] else 10, err)
        return answer

    def test_a_ring_that_crawls_is_healthy_and_one_that_lost_a_peer_is_not(self):
        web = self.web(hosts=40, pages=4000)
        settings = ["--replicas", "2", "--scope", "domain", "--delay", "300ms", "--suspicion-time", "1s", *web.reach]
        nodes = [self.node("a", *settings)]
        nodes += [self.node(name, "--join", nodes[0].address, *web.reach) for name in "bc"]
        self.wait_for_members(nodes, 3)
        self.ok("health", "--exit-when-healthy", "--peer", nodes[0].address)
        self.ok("seed", "--peer", nodes[0].address, *web.seeds)
        ring.wait_until("it crawls", lambda: web.total() > 100)
        self.assertEqual(self.health(nodes[1].directory), {"healthy": True, "state": "healthy", "peers": 3, "problems": []})
        nodes[2].signal(signal.SIGKILL)
        nodes[2].wait()
        ring.wait_until("its end is seen", lambda: not self.health(nodes[0].directory)["healthy"])
        answer = self.health(nodes[0].directory)
        self.assertEqual(answer["state"], "unhealthy")
        self.assertIn(nodes[2].id[:8], answer["problems"][0]["what"])
        self.assertIn("unhealthy", self.run_it("health", "--dir", nodes[0].directory)[1])
        self.node("c", "--join", nodes[0].address, *web.reach)
        self.assertIn("healthy: 3 peers", self.ok("health", "--exit-when-healthy", "--dir", nodes[0].directory))

    def test_where_no_peer_runs(self):
        self.crawl(self.web(hosts=1, pages=3))
        answer = self.health(self.dir / "crawl")
        self.assertEqual((answer["state"], answer["peers"]), ("unhealthy", 0))
        self.assertIn("no peer runs in", answer["problems"][0]["what"])
