"""Links that are recorded and replayed, and rings that are partitioned by host, domain or URL; judged from the server's
side."""

import json

import ring


class Recorded(ring.Case):
    def traced(self, peers, *more):
        web = self.web(hosts=12, pages=120)
        summary = self.crawl(web, "--peers", peers, "--record-links", "--archive", "off", *more)
        self.assertTrue(summary["finished"], summary)
        self.check_whole(web)
        return web, self.dir / "crawl"

    def recorded(self, crawl):
        """What each peer says of its trace when it ended; one that fetched nothing has none."""
        told = [json.loads(path.read_text()) for path in sorted(crawl.glob("peer-*/ended.json"))]
        traces = [one["status"]["link_trace"] for one in told if "link_trace" in one["status"]]
        self.assertGreater(len(traces), 0)
        return traces, [one["status"]["counts"] for one in told]

    def test_every_link_of_every_page_is_recorded_and_replayed(self):
        web, crawl = self.traced(3)
        report = json.loads(self.ok("lab", "cache", "--json", "--trace", crawl, "--plot", self.dir / "cache.svg"))
        facts = report["facts"]
        traces, counts = self.recorded(crawl)
        self.assertEqual(facts["links"], sum(trace["links"] for trace in traces))
        self.assertEqual(facts["links"], sum(count["links_found"] for count in counts))
        self.assertEqual(facts["pages"], sum(trace["pages"] for trace in traces))
        self.assertGreaterEqual(facts["urls"], len(web.expected()))
        self.assertGreater(facts["cross_peer_links"], 0)
        self.assertLess(facts["cross_peer_links"], facts["links"])
        self.assertIn("<svg", (self.dir / "cache.svg").read_text())
        self.assertIn("| entries |", self.ok("lab", "cache", "--markdown", "--trace", crawl, "--sizes", "4,64"))
        report = json.loads(self.ok("lab", "partition", "--json", "--trace", crawl, "--peers", "2,4", "--repeats", 1))
        self.assertEqual(report["facts"]["links"], facts["links"])

    def test_without_the_setting_nothing_is_recorded(self):
        web = self.web(hosts=2, pages=10)
        self.assertTrue(self.crawl(web)["finished"])
        self.assertEqual(list((self.dir / "crawl").glob("peer-*/links")), [])

    def test_a_crawl_that_goes_on_goes_on_with_its_trace(self):
        web = self.web(hosts=4, pages=60)
        self.crawl(web, "--record-links", "--max-pages", 20)
        first = json.loads(self.ok("lab", "cache", "--json", "--trace", self.dir / "crawl"))["facts"]["pages"]
        self.crawl(web, "--record-links", "--max-pages", 20)
        self.assertGreater(first, 0)
        self.assertGreaterEqual(
            json.loads(self.ok("lab", "cache", "--json", "--trace", self.dir / "crawl"))["facts"]["pages"], first
        )

    def test_a_small_link_cache_crawls_the_same_pages_and_a_setting_that_is_gone_is_left_out_with_a_warning(self):
        web = self.web(hosts=4, pages=60)
        more = ("--peers", 2, "--link-cache", "clock", "--max-link-cache-entries", 16)
        code, out, err = self.run_it(*self.crawl_arguments(web, *more), "--json")
        self.assertEqual(code, 0, err)
        self.assertTrue(json.loads(out)["finished"])
        self.assertEqual(err.count("link_cache is not a setting any more"), 1, err)
        self.check_whole(web)

    def test_bad_input_is_told_by_name(self):
        (self.dir / "foreign.links").write_bytes(b"not a trace")
        (self.dir / "empty.links").write_bytes(b"")
        for lab in ("cache", "partition"):
            told = ["foreign.links", "no link trace"]
            self.refused(ring.INVALID_INPUT, told, "lab", lab, "--trace", self.dir / "foreign.links")
            self.refused(ring.INVALID_INPUT, ["is empty"], "lab", lab, "--trace", self.dir / "empty.links")
            self.refused(ring.INVALID_INPUT, ["is not there"], "lab", lab, "--trace", self.dir / "none")
        _, crawl = self.traced(1)
        path = next(crawl.glob("peer-1/links/*.links"))
        whole = path.read_bytes()
        path.write_bytes(whole[:-5])
        self.refused(ring.INVALID_INPUT, [str(path), "byte"], "lab", "cache", "--trace", crawl)
        path.write_bytes(whole)
        self.refused(ring.INVALID_SETTING, ["--sizes holds 0"], "lab", "cache", "--trace", crawl, "--sizes", "0")
        self.refused(ring.INVALID_SETTING, ["of memory"], "lab", "cache", "--trace", crawl, "--sizes", 4294967295)


class Partitioned(ring.Case):
    def check(self, by, *more):
        web = self.web(hosts=5, pages=40)
        flags = ("--peers", 3, "--partition-by", by, "--delay", "200ms", "--retry-delay", "100ms", *more)
        summary = self.crawl(web, *flags, quick=False, seconds=120)
        self.assertTrue(summary["finished"], summary)
        self.check_whole(web)
        for name, host in web.stats()["hosts"].items():
            self.assertEqual(host["most_at_once"], 1, name)
            if host["requests"] > 1:
                self.assertGreaterEqual(host["smallest_gap_ms"], 200, name)
        return web

    def robots(self, web):
        return [count for url, count in web.urls().items() if url.endswith("/robots.txt")]

    @ring.about(10)
    def test_by_url_the_delay_is_kept_at_the_server(self):
        web = self.check("url")
        self.assertGreater(max(self.robots(web)), 1, "each peer that asks a host reads its robots.txt")
        self.assertLessEqual(max(self.robots(web)), 3, "and does so once")

    @ring.about(10)
    def test_by_domain_one_peer_asks_all_hosts_of_a_domain(self):
        web = self.check("domain")
        self.assertEqual(set(self.robots(web)), {1})
        told = [json.loads(path.read_text()) for path in (self.dir / "crawl").glob("peer-*/ended.json")]
        asked = [one["status"]["counts"]["fetches"] for one in told]
        self.assertEqual(sorted(asked)[:2], [0, 0], "sample.test is one domain")

    def test_explain_finds_the_owner_of_a_url(self):
        web = self.web(hosts=3, pages=30)
        first = self.node("a", "--partition-by", "url", "--delay", "0s", "--scope", "domain", *web.reach)
        second = self.node("b", "--join", first.address, *web.reach)
        self.wait_for_members([first, second], 2)
        self.ok("seed", "--peer", first.address, *web.seeds)
        self.wait_for_rest([first, second])
        owners = set()
        for url in sorted(web.expected())[:20]:
            told = self.explain(second, url)
            self.assertIn(told["state"], ("fetched", "failed", "excluded"), url)
            owners.add((url.split("/")[2], told["owner"]))
        hosts = {host for host, _ in owners}
        self.assertGreater(len(owners), len(hosts), "a host's URLs lie with both peers")

    def test_a_joiner_that_wants_another_scheme_is_refused_by_name(self):
        first = self.node("a", "--partition-by", "domain")
        words = ["partition_by", "domain", "url"]
        self.refused(
            ring.MISMATCH, words, "node", "--dir", self.dir / "b", "--join", first.address, "--partition-by", "url"
        )

    def test_budgets_and_cookies_need_one_place_for_what_they_are_of(self):
        for by, more, words in (
            ("url", ("--max-pages-per-host", "5"), ["partition_by (url)", "max_pages_per_host"]),
            ("url", ("--cookies", "crawl"), ["partition_by (url)", "cookies"]),
            ("url", ("--max-pages-per-domain", "5"), ["partition_by = domain", "max_pages_per_domain"]),
            ("host", ("--max-bytes-per-domain", "5MB"), ["partition_by = domain", "max_bytes_per_domain"]),
        ):
            self.refused(ring.INVALID_SETTING, words, "crawl", "http://a.example/", "--partition-by", by, *more)
