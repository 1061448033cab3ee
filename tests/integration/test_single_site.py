"""The single-site crawler of the thesis (docs/inside/literature.md, section D) is one line of Orbweaver: one site and what is
under its name, breadth first, the trailing slash removed before the check, links cut by file ending, fragments and
javascript: cut, every URL found is stored, and it goes on after a crash where it was. A walker of the tests' own
(walker.py) does just that; both must come to the same URLs."""

import json
import os
import random
import signal
import urllib.parse

import ring
import walker
import warcs

ENDINGS = ("css", "js", "rar", "zip", "pdf", "jpg")
PAGES = 240
FETCHES = 4


def without_slash(url):
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit(parts._replace(path=parts.path.rstrip("/") or "/", fragment=""))


def ends_badly(url):
    return urllib.parse.urlsplit(url).path.rsplit("/", 1)[-1].lower().rsplit(".", 1)[-1] in ENDINGS


class SingleSite(ring.Case):
    def setUp(self):
        super().setUp()
        seed = random.SystemRandom().randrange(1_000_000)
        self.note = f"seed {seed}"
        draw = random.Random(seed)
        names = [f"p{i}.html" if draw.random() < 0.6 else f"d{i}/index.html" for i in range(PAGES)]
        names[0] = "index.html"
        hosts = {"site.test": {}, "docs.site.test": {}, "other.test": {"index.html": []}}

        def host_of(page):
            return "site.test" if page % 3 else "docs.site.test"

        hosts[host_of(0)]["index.html"] = []

        def link(page, source):
            path = "/" + names[page].removesuffix("index.html")
            if path.endswith("/") and draw.random() < 0.5:
                path = path.rstrip("/") or "/"
            mark = draw.choice(["", "", "#part", "#"])
            same = host_of(page) == host_of(source)
            return path + mark if same and draw.random() < 0.8 else f"http://{host_of(page)}:{{port}}{path}{mark}"

        for page in range(PAGES):
            targets = [t for t in range(page * 3 + 1, page * 3 + 4) if t < PAGES]
            targets += [draw.randrange(PAGES) for _ in range(draw.randrange(12))]
            links = [link(target, page) for target in targets]
            links += [f"/files/a{page}.{draw.choice(ENDINGS)}", f"/files/b{page}.ZIP?x=1", "javascript:go('/script.html')",
                      "mailto:a@site.test", "#top", "http://other.test:{port}/", f"/missing-{page % 7}/"]
            draw.shuffle(links)
            hosts[host_of(page)][names[page]] = links
        self.trees = [(host, self.tree(host, pages)) for host, pages in hosts.items()]

    def serve(self, latency):
        web = self.web(hosts=0, pages=0, trees=self.trees, latency=latency)
        for _, root in self.trees:
            for page in root.rglob("*.html"):
                page.write_text(page.read_text(encoding="utf-8").replace("{port}", str(web.port)), encoding="utf-8")
        return web

    def walk(self, web):
        """What the thesis's rules give: URLs in the order in which they are found."""
        site = ("site.test", "docs.site.test")
        walk = walker.Walker(web.port)
        order = walk.walk(
            [web.url("docs.site.test")],
            lambda _, link: urllib.parse.urlsplit(link).hostname in site and not ends_badly(link),
            without_slash,
        )
        self.assertGreater(len(order), PAGES)  # all pages, and the missing ones
        return order

    def line(self, web, *more):
        """The one line."""
        return self.crawl_arguments(
            web, "--peers", 1, "--trailing-slash", "drop", "--extensions-deny", ",".join(ENDINGS),
            "--max-fetches", FETCHES, *more,
            seeds=[web.url("docs.site.test")], scope="domain",
        )

    def check(self, web, expected):
        asked = {without_slash(url) for url in web.pages()}
        self.assertEqual(asked, expected, self.note)
        archived = warcs.read_all(self.dir / "crawl")
        pages = {without_slash(url) for url in archived if not url.endswith("/robots.txt")}
        self.assertEqual(pages, expected, self.note)

    @ring.about(6)
    def test_the_same_urls_as_the_thesis_rules_give(self):
        web = self.serve("0s")
        expected = set(self.walk(web))
        web.reset()
        summary = json.loads(self.ok(*self.line(web)))
        self.assertTrue(summary["finished"], summary)
        self.check(web, expected)
        # Every URL found is stored, the failed ones too.
        self.assertEqual(summary["pages"] + summary["failed"], len(expected), self.note)

    @ring.about(12)
    def test_the_same_urls_with_two_crashes_between(self):
        web = self.serve("15ms")
        expected = set(self.walk(web))
        web.reset()
        for share in (0.25, 0.6):
            crawl = self.keep(ring.Process([ring.BINARY, *self.line(web)], self.dir, f"crawling-{share}"))
            ring.wait_until("a part is fetched", lambda: len(web.pages()) > share * len(expected), every=0.005)
            peers = self.peer_files()
            os.kill(crawl.pid, signal.SIGKILL)
            for told in peers.values():
                os.kill(told["pid"], signal.SIGKILL)
            crawl.wait()
            ring.wait_until("the peer is gone", lambda: not self.peer_files())
        self.assertLess(len(web.pages()), len(expected), "the crawl was over before it was killed")
        summary = json.loads(self.ok(*self.line(web)))
        self.assertTrue(summary["finished"], summary)
        self.check(web, expected)
        self.assertEqual(summary["pages"] + summary["failed"], len(expected), self.note)
        # Of the pages fetched before a crash none is fetched again but what was under way. (That a directory is elsewhere,
        # a redirect says; such an answer is not kept over a crash.)
        again = {url for url, n in web.pages().items() if n > 1 and (url.endswith("/") or "." in url.rsplit("/", 1)[-1])}
        self.assertLessEqual(len(again), 2 * FETCHES, (self.note, again))

    @ring.about(6)
    def test_breadth_first(self):
        """No page is asked for before one that is fewer links away from the seed."""
        draw = random.Random(self.note)
        names = ["index.html"] + [f"p{i}.html" for i in range(1, 80)]
        links = {name: [] for name in names}
        for page in range(1, 80):
            links[names[(page - 1) // 2]].append("/" + names[page])
        for page in range(80):
            links[names[page]] += ["/" + names[draw.randrange(1, 80)] for _ in range(3)]
            draw.shuffle(links[names[page]])
        web = self.web(name="one", hosts=0, pages=0, trees=[("one.test", self.tree("one", links))])
        walk = walker.Walker(web.port)
        depth = {web.url("one.test"): 0}
        for url in walk.walk([web.url("one.test")], lambda page, link: True):
            for link, _ in walk.links(url, walk.page(url)[2]):
                depth.setdefault(link, depth[url] + 1)
        # The pause lets a page's links be known before the next page is chosen.
        self.crawl(web, "--peers", 1, "--delay", "20ms", seeds=[web.url("one.test")], quick=False)
        order = [
            depth[fields["WARC-Target-URI"]]
            for path in sorted((self.dir / "crawl").rglob("*.warc.gz"))
            for fields, _ in warcs.records(path)
            if fields["WARC-Type"] == "response" and "robots.txt" not in fields["WARC-Target-URI"]
        ]
        self.assertEqual(len(order), 80)
        self.assertGreater(order[-1], 3)
        self.assertEqual(order, sorted(order), self.note)
