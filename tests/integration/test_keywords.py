"""Queries as seeds, the whole way: keywords, search URLs, result pages, results as seeds on every peer, and the rules for
the links of other pages. What has to come out is found by a walker of the tests' own (walker.py)."""

import re
import urllib.parse

import ring
import walker

ENGINE = "search.findall.test"


def host_of(url):
    return urllib.parse.urlsplit(url).hostname


class Keywords(ring.Case):
    def setUp(self):
        super().setUp()
        self.served = self.web(hosts=12, pages=240, calm=True)

    def engine(self, path="/search"):
        return self.served.url(ENGINE, path) + "?q={searchTerms}&page={startPage}"

    def rule(self, path="/search", more='select="#results h3 a.title"'):
        return ["--result-pages", f"^http://search[.]findall[.]test:[0-9]+{path}[?] {more}"]

    def search_urls(self, words, pages, path="/search"):
        return [
            self.served.url(ENGINE, f"{path}?q={urllib.parse.quote(one, safe='')}&page={page + 1}")
            for one in words
            for page in range(pages)
        ]

    def results(self, searches):
        """What the walker finds on the engine's pages: <a class=title> in an <h3> in #results."""
        walk = walker.Walker(self.served.port)
        found = set()
        for url in searches:
            for link, path in walk.links(url, walk.page(url)[2]):
                tags = [tag for tag, _, _ in path]
                if "h3" in tags and any(i == "results" for _, i, _ in path) and "title" in path[-1][2]:
                    found.add(link)
        self.assertTrue(found, "the engine finds nothing: the test would show nothing")
        return found

    def search(self, *more, words="river; lantern stone", pages=2, path="/search", **options):
        arguments = ["--keywords", words, "--engine", self.engine(path), "--pages", pages]
        return self.crawl(self.served, *arguments, *more, seeds=[], **{"scope": "host", **options})

    def asked(self):
        return set(self.served.pages())

    def test_print_gives_the_urls_and_asks_nobody(self):
        out = self.ok("seed", "--print", "--keywords", "river; lantern stone", "--combine", "each,pairs,phrases",
                      "--engine", self.engine(), "--pages", 2)
        queries = ["river", "lantern stone", "river lantern stone", '"river"', '"lantern stone"']
        self.assertEqual(out.split(), self.search_urls(queries, 2))
        self.assertEqual(self.served.total(), 0)

    def check_results_alone(self, peers):
        searches = self.search_urls(["river", "lantern stone"], 2)
        expected = self.results(searches) | set(searches)
        self.served.reset()
        summary = self.search(*self.rule(), "--site-links", "* keep=^$", "--peers", peers)
        self.assertTrue(summary["finished"], summary)
        self.assertEqual(self.asked(), expected)
        self.assertEqual(set(self.served.pages().values()), {1})

    def test_results_are_fetched_and_nothing_else_of_the_result_pages(self):
        self.check_results_alone(1)

    @ring.about(8)
    def test_results_with_three_peers(self):
        self.check_results_alone(3)

    def check_hosts_of_results(self, peers):
        words = '"silver anchor"'
        searches = self.search_urls([words], 1)
        results = self.results(searches)
        hosts = {host_of(url) for url in results}
        self.assertLess(len(hosts), 12, "every host is a result's: the test would show nothing")
        walk = walker.Walker(self.served.port)
        expected = set(walk.walk(results, lambda _, link: host_of(link) in hosts))
        self.served.reset()
        summary = self.search(*self.rule(), "--peers", peers, words=words, pages=1)
        self.assertTrue(summary["finished"], summary)
        # A link to a host is judged by what was in scope when its page was read; the results of one page come at once.
        self.assertEqual(self.asked() - set(searches), expected)

    @ring.about(10)
    def test_a_result_brings_its_host_into_scope_as_a_seed_does(self):
        self.check_hosts_of_results(1)

    @ring.about(15)
    def test_a_result_brings_its_host_into_scope_on_every_peer(self):
        self.check_hosts_of_results(3)

    def test_a_template_alone_says_what_the_result_pages_are(self):
        searches = self.search_urls(["river"], 1)
        expected = self.results(searches) | set(searches)
        expected |= {self.served.url(0, "/advert/1"), self.served.url(0, "/advert/2")}  # no selector knows them
        self.served.reset()
        self.search("--site-links", "* keep=^$", words="river", pages=1)
        self.assertEqual(self.asked(), expected)

    def test_an_expression_keeps_adverts_out(self):
        searches = self.search_urls(["river"], 1)
        expected = self.results(searches) | set(searches)
        self.served.reset()
        self.search(*self.rule(more="url=sample[.]test:[0-9]+/([^a]|a[^d]|$)"), "--site-links", "* keep=^$", words="river", pages=1)
        self.assertEqual(self.asked(), expected)

    def test_results_behind_counted_links(self):
        plain = self.search_urls(["river"], 1)
        expected = self.results(plain) | set(self.search_urls(["river"], 1, "/go"))
        self.served.reset()
        self.search(*self.rule("/go", 'select="li.web h3 a" unwrap=to'), "--site-links", "* keep=^$",
                    words="river", pages=1, path="/go")
        self.assertEqual(self.asked(), expected)

    def test_the_engines_robots_txt_is_obeyed(self):
        summary = self.search(*self.rule("/private/search"), words="river", pages=2, path="/private/search",
                              code=ring.NOTHING_FETCHED)
        self.assertEqual((summary["pages"], summary["excluded"]), (0, 2))
        self.assertEqual(self.asked(), set())

    def test_lists_of_the_scope_keep_results_out(self):
        searches = self.search_urls(["river"], 1)
        results = self.results(searches)
        expected = {url for url in results if not url.endswith(".html")} | set(searches)
        self.assertLess(len(expected), len(results) + 1)
        self.served.reset()
        self.search(*self.rule(), "--site-links", "* keep=^$", "--extensions-deny", "html", words="river", pages=1)
        self.assertEqual(self.asked(), expected)

    def test_results_max_bounds_the_seeds(self):
        summary = self.search(*self.rule(), "--site-links", "* keep=^$", "--max-results", 6, words="river", pages=1)
        self.assertEqual(summary["pages"], 6)  # the search, and five results

    @ring.about(10)
    def test_other_pages_keep_links_by_expression_and_host(self):
        keep = "(docs|articles)/"
        walk = walker.Walker(self.served.port)
        expected = set(
            walk.walk(
                [self.served.url(0)],
                lambda page, link: host_of(page) != host_of(self.served.url(1))
                and re.search(keep, link)
                or host_of(page) == host_of(link) == host_of(self.served.url(1)),
            )
        )
        self.served.reset()
        links = f"* keep={keep}; {host_of(self.served.url(1))} same_host=yes"
        self.crawl(self.served, "--site-links", links, "--peers", 2)
        self.assertEqual(self.asked(), expected)

    def test_keywords_for_a_ring_that_runs(self):
        words = "river; lantern stone"
        searches = self.search_urls(["river", "lantern stone"], 1)
        results = self.results(searches)
        self.served.reset()
        arguments = [*ring.QUICK, *self.served.reach, *self.rule(), "--site-links", "* keep=^$"]
        first = self.node("one", *arguments)
        second = self.node("two", *arguments, "--join", first.address)
        self.wait_for_members([first, second], 2)
        self.ok("seed", "--peer", second.address, "--keywords", words, "--engine", self.engine())
        ring.wait_until("all results are fetched", lambda: self.asked() == results | set(searches))
        self.wait_for_rest([first, second])
        result = sorted(results)[0]
        for node in (first, second):
            self.assertEqual(self.explain(node, result)["state"], "fetched")
            self.assertIn("seed", self.explain(node, searches[0])["scope"])
            self.assertIn("is a seed's host", self.explain(node, result)["scope"])

    def test_a_ring_without_rules_for_the_pages_is_told(self):
        node = self.node("one", *ring.QUICK, *self.served.reach)
        _, _, err = self.run_it("seed", "--peer", node.address, "--keywords", "river", "--engine", self.engine())
        self.assertIn("result_pages", err)


class BadKeywords(ring.Case):
    def test_what_cannot_be_asked_is_refused(self):
        good = "http://s.example/?q={searchTerms}"
        for words, more in [
            (["no place for the words"], ["--keywords", "a", "--engine", "http://s.example/?q=a"]),
            (["{colour}"], ["--keywords", "a", "--engine", good + "&c={colour}"]),
            (["no place for the page"], ["--keywords", "a", "--engine", good, "--pages", 2]),
            (["no keywords"], ["--keywords", " ; ", "--engine", good]),
            (["no engine"], ["--keywords", "a"]),
            (["nothing to ask"], ["--engine", good]),
            (["both"], ["--keywords", "a", "--engine", good, "--combine", "both"]),
            (["pairs need two"], ["--keywords", "a", "--engine", good, "--combine", "pairs"]),
            (["no-such-file"], ["--keywords", "@no-such-file", "--engine", good]),
        ]:
            for command in ("seed", "crawl"):
                self.refused(ring.INVALID_INPUT, words, command, *more)
        self.refused(ring.INVALID_SETTING, ["--pages"], "seed", "--keywords", "a", "--engine", good, "--pages", 0)
        self.refused(ring.INVALID_SETTING, ["result_pages", "a > b"], "crawl", "http://a.test/", "--result-pages", '^x select="a > b"')
        self.refused(ring.INVALID_SETTING, ["site_links", "keep"], "crawl", "http://a.test/", "--site-links", "a.test keep=(")
