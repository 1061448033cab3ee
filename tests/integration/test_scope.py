"""What belongs to a crawl: the lists, hops off-site, budgets, content types, and what the trap rules bound."""

import collections
import http.server
import json
import re
import signal
import threading
import urllib.parse

import address
import ring
import warcs


class Lists(ring.Case):
    def setUp(self):
        super().setUp()
        self.site = self.tree(
            "site",
            {
                "index.html": ["/a.html", "/docs/", "/old/x.html", "/b.pdf", "/print.html?all=1"],
                "a.html": ["http://next.test:{port}/", "http://third.test:{port}/"],
                "docs/index.html": ["/docs/one.html"],
                "docs/one.html": [],
                "old/x.html": ["/old/y.html"],
                "old/y.html": [],
                "print.html": [],
                "b.pdf": [],
            },
        )
        self.next = self.tree("next", {"index.html": ["/more.html"], "more.html": ["http://third.test:{port}/"]})
        self.third = self.tree("third", {"index.html": ["/deeper.html"], "deeper.html": ["http://site.test:{port}/"]})
        self.served = self.web(
            hosts=0, pages=0, trees=[("site.test", self.site), ("next.test", self.next), ("third.test", self.third)]
        )
        for root in (self.site, self.next, self.third):
            for page in root.rglob("*.*"):
                page.write_text(
                    page.read_text(encoding="utf-8").replace("{port}", str(self.served.port)), encoding="utf-8"
                )

    SITE = {"/", "/a.html", "/docs/", "/docs/one.html", "/old/x.html", "/old/y.html", "/b.pdf", "/print.html?all=1"}

    def asked(self, *more, seed="site.test", scope="host"):
        summary = self.crawl(self.served, *more, seeds=[self.served.url(seed)], scope=scope)
        self.assertTrue(summary["finished"], summary)
        found = set()
        for url in self.served.pages():
            parts = urllib.parse.urlsplit(url)
            path = parts.path + ("?" + parts.query if parts.query else "")
            found.add(path if parts.hostname == "site.test" else parts.hostname + path)
        return found

    def test_no_list_takes_all(self):
        self.assertEqual(self.asked(), self.SITE)

    def test_surt_reject_and_endings_deny(self):
        self.assertEqual(
            self.asked("--surt-reject", f"http://(test,site,:{self.served.port})/old/", "--extensions-deny", "pdf"),
            self.SITE - {"/old/x.html", "/old/y.html", "/b.pdf"},
        )

    def test_url_deny_of_a_file_with_three_peers(self):
        path = self.dir / "deny.txt"
        path.write_text("# no print views\nprint\\.html\\?\n\n/old/\n", encoding="utf-8")
        self.assertEqual(
            self.asked("--url-deny", f"@{path}", "--peers", 3),
            self.SITE - {"/old/x.html", "/old/y.html", "/print.html?all=1"},
        )

    def test_url_allow_narrows(self):
        self.assertEqual(self.asked("--url-allow", "/docs/ a[.]html$"), {"/", "/a.html", "/docs/", "/docs/one.html"})

    def test_surt_accept_widens(self):
        self.assertEqual(
            self.asked("--surt-accept", "test,next,"), self.SITE | {"next.test/", "next.test/more.html"}
        )

    def test_one_hop_off_site(self):
        self.assertEqual(self.asked("--max-hops-off-site", 1), self.SITE | {"next.test/", "third.test/"})

    def test_two_hops_off_site_with_three_peers(self):
        self.assertEqual(
            self.asked("--max-hops-off-site", 2, "--peers", 3),
            self.SITE | {"next.test/", "next.test/more.html", "third.test/", "third.test/deeper.html"},
        )

    def test_a_list_keeps_out_off_site_too(self):
        self.assertEqual(
            self.asked("--max-hops-off-site", 2, "--url-deny", "third"),
            self.SITE | {"next.test/", "next.test/more.html"},
        )

    def test_explain_names_the_setting_and_the_entry(self):
        node = self.node(
            "peer", self.served.url("site.test"), "--url-deny", "print old", "--max-hops-off-site", 1, "--surt-reject",
            "test,third,", *ring.QUICK, *self.served.reach,
        )
        self.wait_for_rest([node])
        for host, path, state, why in [
            ("site.test", "/print.html?all=1", "out of scope", "out of scope: url_deny 'print'"),
            ("site.test", "/never/seen", "unknown", "in scope: scope = host: host 'site.test' is a seed's host"),
            ("third.test", "/x", "out of scope", "out of scope: surt_reject 'test,third,'"),
            ("far.test", "/", "unknown", "host 'far.test' is not a seed's host"),
        ]:
            answer = self.explain(node, self.served.url(host, path))
            self.assertEqual(answer["state"], state, answer)
            self.assertIn(why, answer["why"])
        self.assertEqual(self.explain(node, self.served.url("next.test"))["hops_off_site"], 1)
        self.assertEqual(self.explain(node, self.served.url("site.test", "/never/2031/05"))["trap"], "calendar")

    def test_a_joiner_takes_the_lists_and_one_with_others_is_refused(self):
        first = self.node("first", self.served.url("site.test"), "--url-deny", "old", *ring.QUICK, *self.served.reach)
        second = self.node("second", "--join", first.address, *self.served.reach)
        ring.wait_until("both are members", lambda: len(self.status(first)["peers"]) == 2)
        answer = self.explain(second, self.served.url("site.test", "/old/x.html"))
        self.assertIn("url_deny 'old'", answer["why"])
        other = self.node("other", "--join", first.address, "--url-deny", "new", *self.served.reach, up=False)
        self.assertEqual(other.wait(), ring.MISMATCH)
        self.assertIn("url_deny", other.err)

    def test_content_types(self):
        found = self.asked("--content-types-allow", "text/html")
        self.assertEqual(found, self.SITE, "what a response is shows only when it is there")
        archived = warcs.read_all(self.dir / "crawl")
        self.assertNotIn(self.served.url("site.test", "/b.pdf"), archived)
        self.assertIn(self.served.url("site.test", "/a.html"), archived)
        node = self.node("peer", self.served.url("site.test"), "--content-types-deny", "application/*", *ring.QUICK,
                         *self.served.reach)
        self.wait_for_rest([node])
        answer = self.explain(node, self.served.url("site.test", "/b.pdf"))
        self.assertEqual((answer["state"], answer["reason"], answer["status"]), ("excluded", "content_type", 200))


class TwoWays(address.Address):
    """h0 is redirected to h2, h1 links to it: one page, depth 0 by one way and no redirects by the other."""

    def redirect(self, host, path):
        return f"http://{self.names[2]}:{self.port}/0" if host == self.names[0] and path == "/0" else None

    def page(self, host):
        if host == self.names[1]:
            return f'<a href="http://{self.names[2]}:{self.port}/0">x</a>'.encode()
        return b"".join(b'<a href="/%d">x</a>' % number for number in range(6))


class SeedsStayThoseGiven(ring.Case):
    def test_a_page_off_site_that_two_ways_lead_to_is_no_seed(self):
        with TwoWays(hosts=3, pages=1) as web:
            seeds = [f"http://{name}:{web.port}/0" for name in web.names[:2]]
            self.ok("crawl", *seeds, "--out", "crawl", "--peers", 2, "--scope", "host", "--max-hops-off-site", 1,
                    "--delay", "0s", "--allow-private", "127.0.0.0/8", "--resolve", web.resolve)  # fmt: skip
            self.assertEqual({path for host, path in web.pages() if host == web.names[2]}, {"/0"})


class Budgets(ring.Case):
    def per_host(self, web):
        return collections.Counter(urllib.parse.urlsplit(url).hostname for url in web.pages())

    def test_pages_of_each_host_with_three_peers(self):
        web = self.web(hosts=8, pages=200)
        self.assertTrue(self.crawl(web, "--max-pages-per-host", 5, "--peers", 3)["finished"])
        hosts = self.per_host(web)
        self.assertEqual(max(hosts.values()), 5)
        self.assertGreater(len([n for n in hosts.values() if n == 5]), 3)

    @ring.about(5)
    def test_a_hosts_count_survives_a_stop(self):
        web = self.web(hosts=2, pages=200, latency="20ms")
        crawl = self.start_crawl(web, "--max-pages-per-host", 40)
        ring.wait_until("it is in its middle", lambda: web.total() >= 30)
        crawl.signal(signal.SIGINT)
        self.assertEqual(crawl.wait(20), 0, crawl.err)
        self.assertLess(max(self.per_host(web).values()), 40)
        self.assertTrue(self.crawl(web, "--max-pages-per-host", 40)["finished"])
        self.assertEqual(max(self.per_host(web).values()), 40)

    def test_what_is_beyond_is_explained(self):
        web = self.web(hosts=1, pages=50)
        node = self.node("peer", *web.seeds, "--max-pages-per-host", 3, *ring.QUICK, *web.reach)
        self.wait_for_rest([node])
        self.assertEqual(len(web.pages()), 3)
        left = sorted(web.expected() - set(web.pages()))
        reasons = {self.explain(node, url).get("reason", "unknown") for url in left}
        self.assertIn("budget", reasons)
        self.assertEqual(reasons - {"budget", "unknown"}, set())

    def test_bytes_of_a_host(self):
        web = self.web(hosts=1, pages=100)
        self.assertTrue(self.crawl(web, "--max-bytes-per-host", "60KB")["finished"])
        self.assertGreater(len(web.pages()), 1)
        self.assertLess(len(web.pages()), 60)

    def test_pages_of_a_domain_are_the_rings(self):
        web = self.web(hosts=8, pages=200)
        limit = ("--max-pages-per-domain", 20, "--partition-by", "domain")
        self.assertTrue(self.crawl(web, *limit, "--peers", 3)["finished"])
        self.assertEqual(sum(self.per_host(web).values()), 20)

    def test_bytes_of_the_crawl_end_it(self):
        web = self.web(hosts=8, pages=2000)
        summary = self.crawl(web, "--max-bytes", "500KB", "--peers", 2)
        self.assertTrue(summary["finished"])
        self.assertGreater(len(web.pages()), 10)
        self.assertLess(len(web.pages()), 400)


class Traps(ring.Case):
    def traps(self, node, *more):
        return json.loads(self.ok("traps", "--json", "--peer", node.address, *node.key, *more))

    def test_the_endless_calendar_is_bounded_listed_and_queued_again_on_demand(self):
        web = self.web(hosts=8, pages=60, calm=False, open_trap=True)
        node = self.node("peer", *web.seeds, "--scope", "domain", "--trap-budget", 10, *ring.QUICK, *web.reach)
        self.wait_for_rest([node])
        month = re.compile(r"/calendar/\d+$")
        months = [url for url in web.pages() if month.search(url)]
        self.assertEqual(len(months), 10)
        self.assertEqual(web.expected() - set(web.pages()), set(), "everything else is there")
        report = self.traps(node)
        self.assertEqual([entry["rule"] for entry in report["traps"]], ["calendar"])
        self.assertEqual(report["saved"], report["traps"][0]["saved"])
        self.assertGreater(report["saved"], 5)
        example = report["traps"][0]["examples"][0]
        self.assertNotIn(example, web.pages())
        answer = self.explain(node, example)
        self.assertEqual((answer["state"], answer["reason"], answer["trap"]), ("excluded", "trap", "calendar"))
        saved = report["saved"]
        again = self.traps(node, "--readmit", "--rule", "calendar")
        self.assertEqual(again["readmitted"], saved)
        # What they link to is suspect too, and no more than listed: it stays out.
        asked = lambda: len([url for url in web.pages() if month.search(url)])  # noqa: E731
        ring.wait_until("they were asked for", lambda: asked() >= 10 + saved)
        self.wait_for_rest([node])
        self.assertEqual(asked(), 10 + saved)
        self.assertIn(example, web.pages())

    def a_mirror_is_recognised_listed_and_let_in_on_demand(self, peers):
        count = 120
        pages = {f"p{i}.html": [f"/p{n}.html" for n in (i + 1, i + 2) if n < count] for i in range(count)}
        pages["index.html"] = ["/p0.html", "http://the-mirror.test:{port}/"]
        tree = self.tree("site", pages)
        web = self.web(hosts=0, pages=0, trees=[("site.test", tree), ("the-mirror.test", tree)])
        root = tree / "index.html"
        root.write_text(root.read_text(encoding="utf-8").replace("{port}", str(web.port)), encoding="utf-8")
        options = ("--scope", "any", "--delay", "20ms", "--trap-budget", 5, "--trap-mirror-pages", 8)
        first = self.node("0", web.url("site.test"), "--wait-for-peers", peers, *options, *web.reach)
        nodes = [first, *(self.node(str(n), "--join", first.address, *web.reach) for n in range(1, peers))]
        self.wait_for_rest(nodes)
        asked = collections.Counter(urllib.parse.urlsplit(url).hostname for url in web.pages())
        self.assertEqual(asked["site.test"], count + 1)
        self.assertGreaterEqual(asked["the-mirror.test"], 8)
        self.assertLess(asked["the-mirror.test"], count)
        report = self.traps(nodes[-1])
        self.assertEqual(
            [(entry["rule"], entry["host"], entry["mirror_of"]) for entry in report["traps"]],
            [("mirror", "the-mirror.test", "site.test")],
        )
        answer = self.explain(first, report["traps"][0]["examples"][0])
        self.assertEqual((answer["reason"], answer["trap"]), ("trap", "mirror"))
        again = self.traps(first, "--readmit", "--host", "the-mirror.test")
        self.assertEqual(again["readmitted"], report["saved"])
        ring.wait_until("all of it was asked for", lambda: len(web.pages()) >= 2 * (count + 1))
        self.wait_for_rest(nodes)
        self.assertEqual(self.traps(first)["traps"], [], "a lifted suspicion stays lifted")

    @ring.about(8)
    def test_a_mirror_is_recognised_listed_and_let_in_on_demand(self):
        self.a_mirror_is_recognised_listed_and_let_in_on_demand(1)

    @ring.about(8)
    def test_a_mirror_on_another_peer_is_recognised_listed_and_let_in_on_demand(self):
        self.a_mirror_is_recognised_listed_and_let_in_on_demand(3)

    @ring.about(5)
    def test_the_budget_survives_a_restart(self):
        web = self.web(hosts=8, pages=60, calm=False, open_trap=True)
        arguments = ["--trap-budget", 30]
        crawl = self.start_crawl(web, "--peers", 2, *arguments)
        ring.wait_until("it is in its middle", lambda: web.total() >= 60)
        crawl.signal(signal.SIGINT)
        self.assertEqual(crawl.wait(20), 0, crawl.err)
        self.assertTrue(self.crawl(web, "--peers", 2, *arguments)["finished"])
        self.assertEqual(len([url for url in web.pages() if "/calendar/" in url]), 30)

    def test_one_page_for_every_address_is_bounded(self):
        body = b"<html><body><p>Nothing here.</p><a href='p/'>p</a> <a href='q/'>q</a></body></html>"

        class Soft(http.server.BaseHTTPRequestHandler):
            asked = set()

            def do_GET(self):  # pylint: disable=invalid-name
                known = self.path != "/robots.txt"
                self.send_response(200 if known else 404)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                Soft.asked.add(self.path)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Soft)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            seed = f"http://127.0.0.1:{server.server_port}/"
            node = self.node("peer", seed, *ring.QUICK, "--trap-rules", "same_content", "--trap-same-content", 16,
                             "--trap-budget", 20, "--allow-private", "127.0.0.0/8")
            self.wait_for_rest([node])
            report = self.traps(node)
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
        self.assertEqual([entry["rule"] for entry in report["traps"]], ["same_content"])
        self.assertGreater(len(Soft.asked), 16)
        self.assertLess(len(Soft.asked), 16 * 2 + 20 + 5)
