"""What a crawl takes and what it leaves: page and depth limits, the kinds of scope, robots.txt, text, both parsers."""

import json

import ring


class PageLimit(ring.Case):
    def limited(self, most, peers, **web_options):
        web = self.web(**web_options)
        summary = self.crawl(web, "--max-pages", most, "--peers", peers)
        self.assertTrue(summary["finished"], summary)
        _, strays, twice = web.lost_and_twice()
        self.assertEqual((strays, twice), (set(), {}))
        return web, summary

    def test_exactly_fifty_pages_by_three_peers(self):
        web, summary = self.limited(50, 3, hosts=8, pages=300)
        self.assertEqual(summary["pages"], 50)
        self.assertEqual(len(web.pages()), 50)

    def test_exactly_one_page(self):
        web, summary = self.limited(1, 3, hosts=8, pages=100)
        self.assertEqual((summary["pages"], len(web.pages())), (1, 1))

    def test_exactly_seven_pages_by_one_peer(self):
        web, summary = self.limited(7, 1, hosts=3, pages=100)
        self.assertEqual((summary["pages"], len(web.pages())), (7, 7))

    def test_a_limit_above_the_web_is_no_limit(self):
        web, summary = self.limited(500, 2, hosts=4, pages=80)
        self.assertEqual(summary["pages"], 80)
        self.check_whole(web)

    def test_pages_that_fail_do_not_count(self):
        _, summary = self.limited(100, 3, hosts=6, pages=300, calm=False)
        self.assertEqual(summary["pages"], 100)


class DepthAndScope(ring.Case):
    def setUp(self):
        super().setUp()
        self.site = self.tree(
            "site",
            {
                "index.html": ["/a.html", "/docs/"],
                "a.html": ["/b.html", "/docs/one.html"],
                "b.html": ["/c.html"],
                "c.html": ["/d.html"],
                "d.html": ["/a.html"],
                "docs/index.html": ["/docs/one.html", "/docs-other/x.html"],
                "docs/one.html": [
                    "/docs/deep/two.html",
                    "/a.html",
                    "http://www.site.test:{port}/",
                    "http://other.test:{port}/",
                ],
                "docs/deep/two.html": ["/b.html"],
                "docs-other/x.html": ["/docs/"],
            },
        )
        self.www = self.tree("www", {"index.html": ["/more.html", "http://other.test:{port}/"], "more.html": ["/"]})
        self.other = self.tree("other", {"index.html": ["/far.html", "http://site.test:{port}/"], "far.html": ["/"]})
        self.served = self.web(
            hosts=0, pages=0, trees=[("site.test", self.site), ("www.site.test", self.www), ("other.test", self.other)]
        )
        # The port is known only now; the server reads the files when it is asked.
        for root in (self.site, self.www, self.other):
            for page in root.rglob("*.html"):
                page.write_text(
                    page.read_text(encoding="utf-8").replace("{port}", str(self.served.port)), encoding="utf-8"
                )

    def asked(self, seed, *more, scope):
        summary = self.crawl(self.served, *more, seeds=[seed], scope=scope)
        self.assertTrue(summary["finished"], summary)
        base = f":{self.served.port}"
        pages = self.served.pages()
        self.assertEqual({url: n for url, n in pages.items() if n > 1}, {})
        return {url.removeprefix("http://").replace(base, "") for url in pages}

    SITE = {
        "site.test/",
        "site.test/a.html",
        "site.test/b.html",
        "site.test/c.html",
        "site.test/d.html",
        "site.test/docs/",
        "site.test/docs/one.html",
        "site.test/docs/deep/two.html",
        "site.test/docs-other/x.html",
    }
    WWW = {"www.site.test/", "www.site.test/more.html"}
    OTHER = {"other.test/", "other.test/far.html"}

    def test_scope_host(self):
        self.assertEqual(self.asked(self.served.url("site.test"), scope="host"), self.SITE)

    def test_scope_domain(self):
        self.assertEqual(self.asked(self.served.url("site.test"), scope="domain"), self.SITE | self.WWW)

    def test_scope_domain_of_a_subdomain(self):
        """The seed's registered domain is the scope, not the seed's host."""
        self.assertEqual(self.asked(self.served.url("www.site.test"), scope="domain"), self.WWW)

    def test_scope_any(self):
        self.assertEqual(
            self.asked(self.served.url("site.test"), "--peers", 2, scope="any"), self.SITE | self.WWW | self.OTHER
        )

    def test_scope_prefix(self):
        self.assertEqual(
            self.asked(self.served.url("site.test", "/docs/"), scope="prefix"),
            {"site.test/docs/", "site.test/docs/one.html", "site.test/docs/deep/two.html"},
        )

    def test_max_depth_counts_from_the_seed(self):
        self.assertEqual(
            self.asked(self.served.url("site.test"), "--max-depth", 1, scope="host"),
            {"site.test/", "site.test/a.html", "site.test/docs/"},
        )

    def test_max_depth_two_with_three_peers(self):
        self.assertEqual(
            self.asked(self.served.url("site.test"), "--max-depth", 2, "--peers", 3, scope="any"),
            {
                "site.test/",
                "site.test/a.html",
                "site.test/docs/",
                "site.test/b.html",
                "site.test/docs/one.html",
                "site.test/docs-other/x.html",
            },
        )

    def test_a_shorter_way_found_later_brings_in_what_was_too_deep(self):
        """d.html is five deep from the first seed, and one deep from the second."""
        crawl = self.asked(
            self.served.url("site.test"), self.served.url("site.test", "/c.html"), "--max-depth", 1, scope="host"
        )
        self.assertIn("site.test/d.html", crawl)

    def test_what_was_too_deep_is_explained(self):
        node = self.node("peer", self.served.url("site.test"), "--max-depth", 1, *ring.QUICK, *self.served.reach)
        self.wait_for_rest([node])
        answer = self.explain(node, self.served.url("site.test", "/b.html"))
        self.assertEqual((answer["state"], answer["reason"]), ("excluded", "depth"))
        self.assertEqual(self.explain(node, self.served.url("other.test"))["state"], "out of scope")
        self.assertEqual(self.explain(node, self.served.url("site.test", "/nowhere.html"))["state"], "unknown")
        self.assertEqual(self.explain(node, self.served.url("site.test", "/a.html"))["state"], "fetched")


class RobotsObeyed(ring.Case):
    def test_forbidden_pages_are_never_asked_for_and_explained(self):
        web = self.web(hosts=8, pages=60, calm=False)
        node = self.node("peer", *web.seeds, "--scope", "domain", *ring.QUICK, *web.reach)
        self.wait_for_rest([node])
        self.check_whole(web)
        answer = self.explain(node, web.url(6, "/private/secret-1.html"))
        self.assertEqual((answer["state"], answer["reason"]), ("excluded", "robots"))
        gone = self.explain(node, web.url(1, "/gone/missing.html"))
        self.assertEqual((gone["state"], gone["reason"], gone["status"]), ("failed", "http_status", 404))
        self.assertEqual(self.explain(node, web.url(0, "/moved/relative"))["status"], 301)

    def test_robots_no_asks_for_them_and_not_for_robots_txt(self):
        web = self.web(hosts=8, pages=60, calm=False)
        # Not to the end: behind what robots.txt forbids lies the endless calendar.
        self.assertTrue(self.crawl(web, "--robots", "no", "--max-depth", 5)["finished"])
        urls = web.urls()
        self.assertIn(web.url(6, "/private/secret-1.html"), urls)
        self.assertEqual([url for url in urls if url.endswith("/robots.txt")], [])


class TextAndParsers(ring.Case):
    def test_text_is_a_json_line_for_each_page(self):
        web = self.web(hosts=8, pages=80, calm=False)
        summary = self.crawl(web, "--text", "--peers", 2)
        self.assertTrue(summary["finished"])
        self.check_whole(web)
        lines = [
            json.loads(line)
            for path in sorted((self.dir / "crawl").glob("peer-*/text/*.jsonl"))
            for line in path.read_text(encoding="utf-8").splitlines()
        ]
        urls = [line["url"] for line in lines]
        self.assertEqual(len(urls), len(set(urls)), "a page has two lines")
        self.assertLessEqual(set(urls), set(web.pages()))
        self.assertGreaterEqual(len(urls), 80)
        by_url = {line["url"]: line for line in lines}
        for line in lines:
            self.assertNotIn("<script", line["text"])
            self.assertEqual(line["status"] // 100, 2, line["url"])
        root = by_url[web.seeds[0]]
        self.assertTrue(root["title"])
        self.assertGreater(len(root["text"]), 50)
        self.assertEqual(by_url[web.url(1, "/legacy/windows-1251-header.html")]["title"], "паук")

    @ring.about(8)
    def test_tidy_and_stream_find_the_same_pages(self):
        for parser in ("tidy", "stream"):
            with self.subTest(parser):
                web = self.web(name=f"web-{parser}", hosts=8, pages=120, calm=False)
                self.assertTrue(self.crawl(web, "--parser", parser, out=parser)["finished"])
                self.check_whole(web)
